import { numberToHex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { doings, httpSource, ONE, RATE, RELAYER, type SwapSite, startSwapSite, swapOf } from './site.ts'

let site: SwapSite

beforeAll(async () => {
  site = await startSwapSite()
}, 60_000)
afterAll(() => site.stop())
beforeEach(async () => {
  Object.assign(site.prices, { price: '2000', ageSeconds: 0, isBroken: false })
  await site.setRouter(RATE)
})

/** Another swap for each test, because a day's ceiling counts by its id. */
async function configure(id: string, changes: object = {}, more: object = {}): Promise<void> {
  const swaps = [swapOf(site, { id, ...changes })]
  const config = { swaps, callers: ['root'], timeout_seconds: 50, ...more }
  const { status, body } = await site.service.api('PATCH', '/plugins/swap', { config })
  if (status !== 200) throw new Error(body.error)
}

const ofSwap = async (id: string) =>
  (await site.records()).filter(({ description = '' }) => description.startsWith(`Swap ${id}:`))
const coinsOf = async (account: string) =>
  BigInt(await site.anvil.rpc<string>('eth_getBalance', [account, 'latest']))
const leave = (amount: bigint) =>
  site.anvil.rpc('anvil_dealERC20', [RELAYER, site.token, numberToHex(amount)])

test('A swap that is due sells at most what it may, and its record proves what arrived', async () => {
  await configure('whole', { price: pricesAt('2010') })
  await site.mint(1_500n * ONE)
  const before = await coinsOf(RELAYER)
  const [outcome] = await site.run()
  expect(outcome).toMatchObject({
    swap: 'whole',
    state: 'swapped',
    sold: String(1_000n * ONE),
    bought: String(1_000n * ONE * RATE),
  })
  expect(await site.balanceOf(RELAYER)).toBe(500n * ONE)
  expect(await site.balanceOf(RELAYER, site.coin)).toBe(0n)
  expect(await site.allowance()).toBe(0n)
  const records = await ofSwap('whole')
  expect(doings(records)).toEqual(['let confirmed', 'sell confirmed', 'unwrap confirmed'])
  const sale = records[1]
  expect(sale?.id).toBe(outcome?.transaction_id)
  // The worse of both prices counts: half a percent less than 1000/2010.
  const least = (1_000n * ONE * 10n ** 18n * 9_950n) / (2_010n * ONE * 10_000n) + 1n
  expect(sale?.description).toBe(
    `Swap whole: sell ${1_000n * ONE} of ${site.token} for at least ${least}. Tokens for a coin: fixed 2010, http 2000.`,
  )
  const fees = records.reduce(
    (sum, { receipt }) => sum + BigInt((receipt && 'fee' in receipt && receipt.fee) || 0),
    0n,
  )
  expect((await coinsOf(RELAYER)) - before).toBe(1_000n * ONE * RATE - fees)
  const shown = (await site.report()).swaps.find(({ swap }) => swap === 'whole')
  expect(shown).toMatchObject({
    transaction_id: sale?.id,
    status: 'confirmed',
    sold: String(1_000n * ONE),
    bought: String(1_000n * ONE * RATE),
    least: String(least),
    prices: [
      { source: 'fixed', price: '2010', loss_bps: '-49' },
      { source: 'http', price: '2000', loss_bps: '0' },
    ],
  })
})

const pricesAt = (fixed: string) => ({
  sources: [
    { type: 'fixed', price: fixed },
    { type: 'http', url: site.prices.url, pointer: '/price', time_pointer: '/at' },
  ],
  band_bps: 100,
})

test('Feeds of the chain are a source beside a server, while they are young', async () => {
  const [coin, dollar] = [`0x${'c1'.repeat(20)}`, `0x${'c2'.repeat(20)}`] as const
  /** Each call of it returns five words, of which the first one is the decimals as well. */
  const plant = (feed: string, answer: bigint, ageSeconds: number) => {
    const word = (value: bigint) => numberToHex(value, { size: 32 }).slice(2)
    const at = BigInt(Math.floor(Date.now() / 1000) - ageSeconds)
    const code = `0x7f${word(answer)}6020526008600052${`7f${word(at)}`}60605260a06000f3`
    return site.anvil.rpc('anvil_setCode', [feed, code])
  }
  const feeds = {
    type: 'chainlink',
    coin: { address: coin, max_age_seconds: 3_600 },
    token: { address: dollar, max_age_seconds: 86_400 },
  }
  await configure('feeds', { price: { sources: [feeds, httpSource(site.prices)] } })
  await leave(100n * ONE)
  await plant(dollar, 1_00000000n, 80_000)
  await plant(coin, 2_000_00000000n, 3_700)
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'price_unavailable' })
  await plant(coin, 2_100_00000000n, 0)
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'prices_differ' })
  await plant(coin, 2_000_00000000n, 0)
  expect((await site.run())[0]).toMatchObject({ state: 'swapped' })
})

test('Calls at once make one sale at a time, and no more than the ceiling of a day', async () => {
  await configure('ceiling', { most_at_once: String(40n * ONE), most_a_day: String(100n * ONE) })
  await leave(1_000n * ONE)
  for (let round = 0; round < 2; round += 1) await Promise.all(Array.from({ length: 8 }, () => site.run()))
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'most_a_day' })
  expect(await site.balanceOf(RELAYER)).toBe(900n * ONE)
  const sales = (await ofSwap('ceiling')).filter(({ description }) => description?.includes(': sell '))
  expect(sales).toHaveLength(3)
}, 60_000)

test('What stays and what is due are kept', async () => {
  await leave(100n * ONE)
  await configure('floor', { least_left: String(100n * ONE) })
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'not_due' })
  await configure('rich', { when: { coin_below: '1' } })
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'not_due' })
  await configure('few', { when: { token_above: String(100n * ONE) } })
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'not_due' })
  await configure('chain', { router: { ...Object(swapOf(site)).router, chain_id: 1 } })
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'wrong_chain' })
  await configure('dear', { most_cost_bps: 1 })
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'costs_too_much' })
  expect(await site.balanceOf(RELAYER)).toBe(100n * ONE)
  expect(await site.allowance()).toBe(0n)
})

test.each<[string, string, object]>([
  ['differs by more than the band, because it lies', 'prices_differ', { price: '4000' }],
  ['says that the token is dearer', 'prices_differ', { price: '1000' }],
  ['is stale', 'price_unavailable', { ageSeconds: 61 }],
  ['is of the future', 'price_unavailable', { ageSeconds: -120 }],
  ['answers no JSON', 'price_unavailable', { isBroken: true }],
  ['tells no positive price', 'price_unavailable', { price: '0' }],
])('Nothing is sold while one of the sources %s', async (_, code, changes) => {
  await leave(100n * ONE)
  await configure('source')
  Object.assign(site.prices, changes)
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code })
  expect(await ofSwap('source')).toEqual([])
})

test.each<[string, bigint, bigint]>([
  ['has a worse price than the sources, whatever it quotes', (RATE * 98n) / 100n, 100n],
  ['keeps half', RATE, 50n],
  ['keeps all', RATE, 0n],
])('Nothing is sent, not even an approval, to a router that in the simulation %s', async (_, rate, given) => {
  await leave(100n * ONE)
  await configure('router')
  await site.setRouter(rate, given)
  expect((await site.run())[0]).toMatchObject({ state: 'refused', code: 'arrives_too_little' })
  expect(await ofSwap('router')).toEqual([])
})

test('A stranger can neither run swaps nor read what they cost', async () => {
  await configure('stranger')
  const { body } = await site.service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Stranger',
    scopes: ['plugins:call', 'transactions:write'],
  })
  const headers = { authorization: `Bearer ${body.data.secret}` }
  expect(await site.ask('/run', { method: 'POST', body: '{}', headers })).toMatchObject({ status: 403 })
  expect(await site.ask('/swaps?day=2026-11-30', { headers })).toMatchObject({ status: 403 })
  const none = { authorization: 'Bearer nothing' }
  expect(await site.ask('/run', { method: 'POST', body: '{}', headers: none })).toMatchObject({ status: 401 })
  await configure('nobody', {}, { callers: [] })
  expect(await site.ask('/run', { method: 'POST', body: '{}' })).toMatchObject({ status: 403 })
  expect(await ofSwap('stranger')).toEqual([])
})

test.each<[string, RequestInit, number]>([
  ['/run', { method: 'POST', body: '{"relayer":"main"}' }, 400],
  ['/run', { method: 'POST', body: '{"relayer_id":1}' }, 400],
  ['/run', { method: 'POST', body: '{"relayer_id":"other"}' }, 404],
  ['/run', {}, 404],
  ['/swaps', {}, 400],
  ['/swaps?day=today', {}, 400],
  ['/nothing', {}, 404],
])('%s with %j is refused', async (path, init, status) => {
  await configure('wrong')
  expect((await site.ask(path, init)).status).toBe(status)
})

test('A record of another key with the same reference neither counts nor is shown', async () => {
  await configure('forged', { most_a_day: String(50n * ONE) })
  await leave(40n * ONE)
  const forged = {
    to: RELAYER,
    value: '0',
    reference: 'swap:main',
    description: `Swap forged: sell ${50n * ONE} of ${site.token} for at least 1. Tokens for a coin: fixed 1, http 1.`,
  }
  const { body } = await site.service.api('POST', '/relayers/main/transactions', forged)
  expect((await site.run())[0]).toMatchObject({ state: 'swapped' })
  const shown = (await site.report()).swaps.map(({ transaction_id }) => transaction_id)
  expect(shown).not.toContain(body.data.id)
})
