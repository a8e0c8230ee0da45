import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const tokenAt = (byte: string) => `0x${byte.repeat(20)}` as const

/** Code that answers each call with one word. */
const answering = (word: bigint) => `0x7f${word.toString(16).padStart(64, '0')}5f5260205ff3`

const TOKENS = {
  honest: { address: tokenAt('e1'), code: answering(6n) },
  boastful: { address: tokenAt('e2'), code: answering(2n ** 255n) },
  refusing: { address: tokenAt('e3'), code: '0x5f5ffd' },
  silent: { address: tokenAt('e4'), code: '0x00' },
  /** It returns "USDC" as bytes, whatever it is asked. */
  named: { address: tokenAt('e5'), code: '0x602060005260046020526355534443604052608060006060f3' },
} as const

let story: Scenario
beforeAll(async () => {
  story = await startScenario({ network: { tokens: [] } })
  for (const { address, code } of Object.values(TOKENS))
    await story.anvil.rpc('anvil_setCode', [address, code])
}, 60_000)
afterAll(() => story.stop())

const pay = (token: Hex) =>
  story.send({
    to: token,
    value: 0,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [RECEIVER as Hex, 7n] }),
    gas_limit: 100_000,
  })

const shownTransfer = async ({ id }: Pick<Transaction, 'id'>) => {
  const { body } = await story.service.api<Transaction>('GET', `/relayers/main/transactions/${id}`)
  return body.data.transfers?.[0]
}

test('a token that the operator does not name is shown by its address, with the decimals that it says itself', async () => {
  const sent = await pay(TOKENS.honest.address)
  expect(sent.transfers?.[0]).not.toHaveProperty('decimals')
  const transfer = await until(
    () => shownTransfer(sent),
    (one) => one?.decimals !== undefined,
  )
  expect(transfer).toMatchObject({ asset: TOKENS.honest.address, amount: '7', decimals: 6 })
  expect(transfer).not.toHaveProperty('symbol')
})

test.each([
  ['boastful', 'a1'],
  ['refusing', 'a2'],
  ['silent', 'a3'],
  ['named', 'a4'],
] as const)('a %s token has no decimals and no name', async (kind, next) => {
  const asked = await pay(TOKENS[kind].address)
  await shownTransfer(asked)
  // One after the other is asked, so when this one is known, the answer of the first has come.
  await story.anvil.rpc('anvil_setCode', [tokenAt(next), answering(2n)])
  const later = await pay(tokenAt(next))
  await until(
    () => shownTransfer(later),
    (one) => one?.decimals === 2,
  )
  const transfer = await shownTransfer(asked)
  expect(transfer).toMatchObject({ asset: TOKENS[kind].address, amount: '7' })
  expect(transfer).not.toHaveProperty('symbol')
  expect(transfer).not.toHaveProperty('decimals')
})
