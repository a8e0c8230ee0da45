import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { issueApprover } from '../../support/approver.ts'
import { createDataDir } from '../../support/data-dir.ts'
import type { Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { TAKING_TOKEN_CODE } from './contract-code.ts'
import {
  doings,
  ONE,
  RATE,
  RELAYER,
  type SwapContracts,
  type SwapSite,
  startSwapSite,
  swapOf,
} from './site.ts'

let site: SwapSite | undefined
afterEach(async () => {
  await site?.stop()
  site = undefined
})

const settle = (of: SwapSite, last: string) =>
  until(
    async () => doings(await of.records()),
    (done) => done.includes(last),
  )

/** The rules that the guide recommends: no more can be approved than this, whatever the plugin does. */
const rulesOf = ({ token, router, coin }: SwapContracts, value: bigint) => ({
  contracts: [token, router, coin],
  selectors: ['0x095ea7b3', '0x5ae401dc', '0x2e1a7d4d'],
  limits: [{ per: 'day', asset: token, value: value.toString() }],
})

test('A price that moves between the simulation and the block costs gas alone, and three times a day at most', async () => {
  const at = await startSwapSite()
  site = at
  await at.mint(100n * ONE)
  for (let failures = 1; failures <= 3; failures += 1) {
    await at.setRouter(RATE)
    await at.setMining(false)
    const running = at.run()
    await settle(at, 'let submitted')
    await at.anvil.rpc('evm_mine')
    await until(
      async () => doings(await at.records()),
      (done) => done.filter((one) => one === 'sell submitted').length === 1,
    )
    const data = encodeFunctionData({
      abi: parseAbi(['function set(uint256 rate, uint256 given, bool simulatesWell)']),
      args: [(RATE * 90n) / 100n, 100n, false],
    })
    const tip = numberToHex(10n ** 11n)
    await at.transact({ to: at.router, data, maxFeePerGas: tip, maxPriorityFeePerGas: tip })
    await at.anvil.rpc('evm_mine')
    await at.setMining(true)
    expect((await running)[0]).toMatchObject({ state: 'ended', message: expect.stringContaining('failed') })
    expect(await at.balanceOf(RELAYER)).toBe(100n * ONE)
    expect(await at.allowance()).toBe(0n)
  }
  await at.setRouter(RATE)
  expect((await at.run())[0]).toMatchObject({ state: 'refused', code: 'too_many_failures' })
}, 120_000)

test.each([0n, 99n])(
  'A router that simulates well and gives %d percent in the block is stopped until an operator has looked',
  async (given) => {
    const at = await startSwapSite()
    site = at
    await at.mint(3_000n * ONE)
    await at.setRouter(RATE, given, true)
    const [outcome] = await at.run()
    expect(outcome).toMatchObject({ state: 'stopped', sold: String(1_000n * ONE) })
    // At most one sale is lost, and no more can be taken.
    expect(await at.balanceOf(RELAYER)).toBe(2_000n * ONE)
    expect(await at.allowance()).toBe(0n)
    await at.setRouter(RATE)
    const stopped = { state: 'stopped', transaction_id: outcome?.transaction_id }
    expect((await at.run())[0]).toMatchObject(stopped)
    // Another swap at this router is stopped as well.
    const configure = (changes: object) =>
      at.service.api('PATCH', '/plugins/swap', {
        config: { swaps: [swapOf(at, changes)], callers: ['root'], timeout_seconds: 50 },
      })
    await configure({ id: 'again' })
    expect((await at.run())[0]).toMatchObject(stopped)
    await configure({ id: 'again', looked_at: 'something else' })
    expect((await at.run())[0]).toMatchObject(stopped)
    expect(await at.balanceOf(RELAYER)).toBe(2_000n * ONE)
    await configure({ id: 'again', looked_at: outcome?.transaction_id })
    expect((await at.run())[0]).toMatchObject({ state: 'swapped' })
  },
  60_000,
)

test('A token that keeps a part of each transfer is not swapped', async () => {
  site = await startSwapSite({ tax: 2n })
  await site.mint(100n * ONE)
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'arrives_too_little' })
  expect(await site.records()).toEqual([])
}, 60_000)

test('A token that takes more than it is asked for is not swapped', async () => {
  site = await startSwapSite({ tokenCode: TAKING_TOKEN_CODE })
  await site.mint(2_000n * ONE)
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'token_takes_more' })
  expect(await site.records()).toEqual([])
}, 60_000)

test('A service that ends between the approval and the sale goes on where it was', async () => {
  const dataDir = await createDataDir()
  const at = await startSwapSite({
    options: { dataDir },
    config: { timeout_seconds: 2 },
    entry: (contracts) => ({ rules: rulesOf(contracts, 1_000n * ONE) }),
  })
  site = at
  await at.mint(1_000n * ONE)
  await at.setMining(false)
  expect((await at.run())[0]).toMatchObject({ state: 'waiting' })
  expect(doings(await at.records())).toEqual(['let submitted'])
  await at.service.stop()
  await at.setMining(true)
  await at.anvil.rpc('evm_mine')
  const again = await at.start()
  try {
    const outcome = await until(
      async () => (await at.run(again))[0],
      (one) => one?.state !== 'waiting',
    )
    expect(outcome).toMatchObject({ state: 'swapped', sold: String(1_000n * ONE) })
    const { body } = await again.api<Transaction[]>('GET', '/transactions?reference=swap:main')
    expect(doings(body.data.toReversed())).toEqual(['let confirmed', 'sell confirmed', 'unwrap confirmed'])
    // The budget of the API key is used up: what the plugin may approve in a day is bounded by the service.
    await at.mint(1_000n * ONE)
    expect((await at.run(again))[0]).toMatchObject({ state: 'refused', code: 'rule_violated' })
    expect(await at.allowance()).toBe(0n)
  } finally {
    await again.stop()
  }
}, 60_000)

test('Each transaction of a swap waits for the approvals that the rules of the key require', async () => {
  const at = await startSwapSite({ entry: () => ({ rules: { require_approval: {} } }) })
  site = at
  await at.mint(100n * ONE)
  const approver = await issueApprover(at.service)
  for (const [done, next] of [
    ['let', 'sell'],
    ['sell', 'unwrap'],
  ]) {
    const [outcome] = await at.run()
    expect(outcome).toMatchObject({ state: 'waiting', awaits_approval: true })
    expect(doings(await at.records()).at(-1)).toBe(`${done} pending`)
    expect((await approver.decide(outcome?.transaction_id ?? '', 'approve')).status).toBe(200)
    const last = async () => {
      await at.run()
      return doings(await at.records()).at(-1)
    }
    await until(last, (doing) => doing === `${next} pending`)
  }
  const [last] = await at.run()
  await approver.decide(last?.transaction_id ?? '', 'approve')
  expect((await at.run())[0]).toMatchObject({ state: 'swapped' })
}, 60_000)

test('What the rules of the key refuse is not sent, and told', async () => {
  site = await startSwapSite({ entry: ({ router }) => ({ rules: { contracts: [router] } }) })
  await site.mint(100n * ONE)
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'rule_violated' })
  expect(await site.records()).toEqual([])
}, 60_000)

test('A schedule runs swaps by itself', async () => {
  const at = await startSwapSite({
    entry: () => ({ hooks: { schedule: [{ name: 'swap', cron: '* * * * * *' }] } }),
  })
  site = at
  await at.mint(100n * ONE)
  await settle(at, 'unwrap confirmed')
  expect(await at.balanceOf(RELAYER)).toBe(0n)
}, 60_000)

test('An allowance that something else left is taken back before another one is given', async () => {
  const at = await startSwapSite()
  site = at
  await at.mint(100n * ONE)
  const approve = parseAbi(['function approve(address spender, uint256 value) returns (bool)'])
  const { body } = await at.service.api('POST', '/relayers/main/transactions?wait=confirmed', {
    to: at.token,
    value: '0',
    data: encodeFunctionData({ abi: approve, args: [at.router as Hex, 7n] }),
  })
  expect(body.data.status).toBe('confirmed')
  expect((await at.run())[0]).toMatchObject({ state: 'swapped' })
  expect(doings(await at.records())).toEqual([
    'let confirmed',
    'let confirmed',
    'sell confirmed',
    'unwrap confirmed',
  ])
}, 60_000)
