import { encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const FROM = DEV_ADDRESSES[0] as Hex
const TOKEN = `0x${'ee'.repeat(20)}` as const
const LIAR = `0x${'ef'.repeat(20)}` as const
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A token that keeps a unit of each transfer, and says so by its event: `Transfer(caller, to, amount - 1)`. */
const TOKEN_CODE = `0x6024356001900360005260043533${`7f${TRANSFER}`}60206000a300`

/** A contract that calls itself by the symbol of another token: each call returns the text "USDC". */
const LIAR_CODE = '0x602060005260046020526355534443604052608060006060f3'

let story: Scenario
beforeAll(async () => {
  const tokens = [{ address: TOKEN, symbol: 'EURC', decimals: 6 }]
  story = await startScenario({ network: { required_confirmations: 3, tokens } })
  await story.anvil.rpc('anvil_setCode', [TOKEN, TOKEN_CODE])
  await story.anvil.rpc('anvil_setCode', [LIAR, LIAR_CODE])
}, 60_000)
afterAll(() => story.stop())

const transfer = (amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [RECEIVER as Hex, amount] })
const paid = (amount: string) => ({
  from: FROM,
  to: RECEIVER,
  asset: TOKEN,
  amount,
  symbol: 'EURC',
  decimals: 6,
})

async function found(query: string): Promise<readonly string[]> {
  const { body } = await story.service.api<Transaction[]>('GET', `/transactions?${query}`)
  return body.data.map(({ id }) => id)
}

test('a token says by its event what moved, and a reorganisation takes that back', async () => {
  const { id, transfers } = await story.send({ to: TOKEN, value: 0, data: transfer(7n), gas_limit: 100_000 })
  const expected = [{ ...paid('7'), expected: true }]
  expect(transfers).toEqual(expected)
  await story.reach(id, 'submitted')
  await story.mine()
  const mined = await story.reach(id, 'mined')
  expect(mined.transfers).toEqual([paid('6')])
  const exactly = (amount: number) =>
    found(`to=${RECEIVER}&asset=${TOKEN}&min_amount=${amount}&max_amount=${amount}`)
  expect(await exactly(7)).toEqual([id])
  expect(await exactly(6)).toEqual([id])

  await story.anvil.rpc('anvil_reorg', [1, []])
  expect((await story.reach(id, 'submitted')).transfers).toEqual(expected)
  expect(await exactly(6)).toEqual([])
  await until(
    () => story.anvil.rpc('eth_getTransactionByHash', [mined.hash]),
    (known) => known !== null,
  )
  await story.mine()
  await story.reach(id, 'mined')
  await story.settle()
  expect((await story.get(id)).transfers).toEqual([paid('6')])
  expect(await exactly(6)).toEqual([id])
  const { body } = await story.service.api<Schemas['Event'][]>('GET', `/events?transaction_id=${id}`)
  const told = body.data.map(({ payload }) =>
    payload.payload_type === 'transaction' ? payload.transfers : [],
  )
  expect(told.filter((one) => one?.[0]?.expected === true).length).toBe(4)
  expect(told.at(-1)).toEqual([paid('6')])
})

test('what a payment of the native currency moved is told by its block, and a call that reverts moved nothing', async () => {
  const native = { from: FROM, to: RECEIVER, asset: 'native', amount: '9', symbol: 'ETH', decimals: 18 }
  const payment = await story.send({ to: RECEIVER, value: 9 })
  expect(payment.transfers).toEqual([{ ...native, expected: true }])
  const failing = await story.send({ to: TOKEN, value: 0, data: transfer(8n), gas_limit: 100_000 })
  await story.reach(failing.id, 'submitted')
  await story.anvil.rpc('anvil_setCode', [TOKEN, '0x5f5ffd'])
  await story.settle()
  await story.anvil.rpc('anvil_setCode', [TOKEN, TOKEN_CODE])
  expect((await story.get(payment.id)).transfers).toEqual([native])
  expect(await story.get(failing.id)).toMatchObject({
    status: 'failed',
    transfers: [{ ...paid('8'), expected: true }],
  })
})

test('a contract that has the name of a known token is shown by its address, and without an event it moved nothing', async () => {
  const { id, transfers } = await story.send({ to: LIAR, value: 0, data: transfer(5n), gas_limit: 100_000 })
  expect(transfers).toEqual([{ from: FROM, to: RECEIVER, asset: LIAR, amount: '5', expected: true }])
  await story.settle()
  expect(await story.get(id)).not.toHaveProperty('transfers')
})

test('an x402 payment reads as one of the payer to the seller', async () => {
  const [, payer] = DEV_ADDRESSES
  const data = encodeFunctionData({
    abi: parseAbi([
      'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    ]),
    args: [
      payer as Hex,
      RECEIVER as Hex,
      1_500_000n,
      0n,
      2n ** 32n,
      `0x${'11'.repeat(32)}`,
      27,
      `0x${'11'.repeat(32)}`,
      `0x${'11'.repeat(32)}`,
    ],
  })
  const { id, transfers } = await story.send({ to: TOKEN, value: 0, data, gas_limit: 100_000 })
  expect(transfers).toEqual([{ ...paid('1500000'), from: payer, expected: true }])
  expect(
    await found(`to=${RECEIVER.toLowerCase()}&asset=${TOKEN}&min_amount=1500000&max_amount=1500000`),
  ).toEqual([id])
  await story.settle()
})
