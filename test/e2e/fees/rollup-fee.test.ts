import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { until } from '../../support/until.ts'

const RECEIVER = '0x0000000000000000000000000000000000000777'
const ORACLE = '0x420000000000000000000000000000000000000F'
const GWEI = 1_000_000_000n
/** What the oracle answers to both questions, in wei. */
const ORACLE_FEE = 7_000_000n * GWEI
/** The fee for the parent chain counts half as much again, because it follows that chain's market until the inclusion. */
const ROLLUP_FEE = (ORACLE_FEE * 3n) / 2n + ORACLE_FEE
const GAS_FEE = 21_000n * 100n * GWEI

let story: Scenario

beforeAll(async () => {
  story = await startScenario({ network: { tags: ['optimism-based'] } })
  await setOracleFee(ORACLE_FEE)
})
afterAll(() => story.stop())

async function setOracleFee(wei: bigint): Promise<void> {
  const answer = wei.toString(16).padStart(64, '0')
  // PUSH32 answer, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN
  await story.anvil.rpc('anvil_setCode', [ORACLE, `0x7f${answer}60005260206000f3`])
}

const pay = (value: bigint) => ({
  to: RECEIVER,
  value: String(value),
  gas_limit: 21_000,
  gas_price: String(100n * GWEI),
})

async function balance(): Promise<bigint> {
  const { body } = await story.service.api<{ balance: string }>('GET', '/relayers/main/balance')
  return BigInt(body.data?.balance ?? 0)
}

describe('on the OP stack', () => {
  test('a payment of the whole balance that leaves nothing for the parent chain is refused immediately', async () => {
    const all = (await balance()) - GAS_FEE
    const refused = await story.post(pay(all - ROLLUP_FEE))
    expect([refused.status, refused.body.code]).toEqual([400, 'insufficient_balance'])
    // One wei stays on the account by default.
    const { id } = await story.send(pay(all - ROLLUP_FEE - 1n))
    await story.reach(id, 'submitted')
    await story.mine(2)
    await story.reach(id, 'confirmed')
  })

  test('a fee for the parent chain of 256 bits is nothing that a chain asks: the transaction waits for another answer', async () => {
    await setOracleFee(2n ** 256n - 1n)
    const { id } = await story.send(pay(1n))
    await until(
      () => story.get(id),
      ({ status_reason }) => /no endpoint returned the fees/.test(status_reason ?? ''),
    )
    await setOracleFee(1n)
    await story.reach(id, 'submitted')
  })
})
