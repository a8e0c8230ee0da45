import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAdjustableClock } from '../support/adjustable-clock.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { DEV_ADDRESSES, DEV_KEYS, RECEIVER } from '../support/service.ts'
import { until } from '../support/until.ts'

const GWEI = 10n ** 9n
const outsider = privateKeyToAccount(DEV_KEYS[0])

const clock = createAdjustableClock()
let story: Scenario

beforeAll(async () => {
  story = await startScenario({ clock })
})
afterEach(() => story.settle())
afterAll(() => story.stop())

/** Signs with the relayer's key, without the service. */
async function sendOutside(nonce: number, value: bigint): Promise<string> {
  const raw = await outsider.signTransaction({
    chainId: 31337,
    type: 'eip1559',
    nonce,
    to: RECEIVER,
    value,
    gas: 21_000n,
    maxFeePerGas: 100n * GWEI,
    maxPriorityFeePerGas: 50n * GWEI,
  })
  return story.anvil.rpc('eth_sendRawTransaction', [raw])
}

const chainNonce = async () =>
  Number(await story.anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest']))

describe('a nonce that is used outside the service (R4)', () => {
  test('before ours is signed: ours gets the next one', async () => {
    const used = await chainNonce()
    await sendOutside(used, 1n)
    await story.mine()
    const sent = await story.send({ to: RECEIVER, value: 2 })
    await story.settle()
    expect(await story.get(sent.id)).toMatchObject({ status: 'confirmed', nonce: used + 1 })
  })

  test('while ours waits: ours loses the race, gets a fresh nonce once that is proven, and is executed once', async () => {
    const nonce = await chainNonce()
    const sent = await story.send({
      to: RECEIVER,
      value: 3,
      max_fee_per_gas: Number(2n * GWEI),
      max_priority_fee_per_gas: 1,
    })
    const first = await story.reach(sent.id, 'submitted')
    expect(first.nonce).toBe(nonce)
    await story.anvil.rpc('anvil_dropTransaction', [first.hash])
    const externallySigned = await sendOutside(nonce, 4n)
    await story.mine(4)
    const final = await until(
      async () => {
        await story.mine()
        // The same answer has to stand for half a minute before a nonce is believed to be lost.
        clock.advance(1_000)
        return story.get(sent.id)
      },
      ({ status }) => status === 'confirmed',
    )
    expect(final.nonce).toBe(nonce + 1)
    expect(final.attempts.map(({ nonce, outcome }) => [Number(nonce), outcome])).toEqual([
      [nonce, 'superseded'],
      [nonce + 1, 'mined'],
    ])
    expect(await story.minedHash(DEV_ADDRESSES[0], nonce)).toBe(externallySigned)
    expect(await story.anvil.rpc('eth_getTransactionReceipt', [first.hash])).toBeNull()
  })
})
