import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startLiar } from '../../chains/one-liar.ts'
import { SOL } from '../../support/solana-scenario.ts'
import {
  honest,
  MAIN,
  ONE,
  PRICE,
  type SolanaSwapSite,
  startSolanaSwapSite,
  swapBy,
  worth,
} from './solana-site.ts'

let site: SolanaSwapSite
beforeAll(async () => {
  site = await startSolanaSwapSite({ changes: { most_a_day: String(150n * ONE) } })
}, 60_000)
afterAll(() => site?.stop())
beforeEach(() => {
  Object.assign(site.prices, { price: PRICE, ageSeconds: 0 })
  Object.assign(site.api, { swap: swapBy(honest), change: (answer: object) => answer, instead: undefined })
})

test('Tokens become SOL in one transaction, within the ceiling of a day, and the block tells how many', async () => {
  site.give(1_000n * ONE)
  const before = site.lamports()
  expect(await site.run()).toMatchObject({
    state: 'swapped',
    sold: String(100n * ONE),
    bought: String(worth(100n * ONE)),
  })
  expect(site.tokens()).toBe(900n * ONE)
  const [sale, ...others] = await site.records()
  expect(others).toEqual([])
  // 666.666667 by the prices, rounded up, without 50 basis points, rounded up.
  expect(sale?.description).toBe(
    `Swap dollars: sell ${100n * ONE} of ${site.mint} for at least 663333334. Tokens for a coin: fixed 150, http 150.`,
  )
  const fee = BigInt((sale?.receipt as { fee?: string | number } | undefined)?.fee ?? 0)
  expect(fee).toBeGreaterThan(0n)
  expect(site.lamports()).toBe(before + worth(100n * ONE) - fee)
  expect(await site.run()).toMatchObject({ state: 'swapped', sold: String(50n * ONE) })
  expect(await site.run()).toMatchObject({ state: 'refused', code: 'most_a_day' })
  const { swaps, fees } = await site.report()
  expect(swaps.map(({ bought, prices }) => [bought, prices.map(({ loss_bps }) => loss_bps)])).toEqual([
    [String(worth(50n * ONE)), ['0', '0']],
    [String(worth(100n * ONE)), ['0', '0']],
  ])
  expect(fees).toEqual([{ relayer_id: 'main', amount: expect.stringMatching(/^[1-9]\d*$/) }])
  // The router is asked for what is signed, and told whose it is.
  const [quote, instructions] = site.api.asked
  expect(quote).toMatch(
    /^GET \/v1\/quote\?key=secret&inputMint=\w+&outputMint=So1\w+&amount=100000000&slippageBps=50&/,
  )
  expect(instructions).toMatch(
    /^POST \/v1\/swap-instructions\?key=secret \{"quoteResponse":\{"inAmount":"100000000",/,
  )
  expect(instructions).toContain(`"userPublicKey":"${MAIN}"`)
}, 60_000)

test.each<[string, string, object]>([
  ['lies', 'prices_differ', { price: '300' }],
  ['is stale', 'price_unavailable', { ageSeconds: 100 }],
])('Nothing is sold while one of the sources %s', async (_, code, changes) => {
  await site.configure({ id: 'source' })
  Object.assign(site.prices, changes)
  expect(await site.run()).toMatchObject({ state: 'refused', code })
})

test.each<[string, SolanaSwapSite['api']['instead']]>([
  ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' }, text: '' }],
  ['fails', { status: 500, text: '{}' }],
  ['does not speak JSON', { status: 200, text: '<html>' }],
  ['does not end', { status: 200, text: `"${'a'.repeat(300_000)}"` }],
])('Nothing is sold while the router %s, and no key of its URL is told', async (_, instead) => {
  await site.configure({ id: 'silent' })
  site.api.instead = instead
  const outcome = await site.run()
  expect(outcome).toMatchObject({ state: 'refused', code: 'unavailable' })
  expect(outcome.message).toMatch(/^The router 127\.0\.0\.1:\d+ did not answer/)
})

test('A relayer on another network, a token that is none, and fees above their share, are refused', async () => {
  site.give(1_000n * ONE)
  const router = { type: 'jupiter', url: site.api.url, programs: [site.program] }
  await site.configure({ id: 'elsewhere', router: { ...router, network: 'mainnet-beta' } })
  expect(await site.run()).toMatchObject({ state: 'refused', code: 'wrong_network' })
  await site.configure({ id: 'none', token: site.program })
  expect(await site.run()).toMatchObject({ state: 'refused', code: 'unknown_token' })
  await site.configure({ id: 'tiny', most_at_once: '100' })
  expect(await site.run()).toMatchObject({ state: 'refused', code: 'costs_too_much' })
  site.solana.market.recentPrice = SOL
  site.solana.tick(200)
  await site.configure({ id: 'dear', most_at_once: String(10n * ONE) })
  expect(await site.run()).toMatchObject({ state: 'refused', code: 'costs_too_much' })
  site.solana.market.recentPrice = 0n
})

test('What no node tells is not told as a loss: the swap waits for an operator, and the report names no amounts', async () => {
  const node = { stop: async () => {} }
  const untold = await startSolanaSwapSite({
    front: async (url) => {
      const liar = await startLiar(url, (method, reply) =>
        method === 'getTransaction' ? { ...reply, result: null } : reply,
      )
      node.stop = liar.stop
      return liar.url
    },
  })
  onTestFinished(async () => {
    await untold.stop()
    await node.stop()
  })
  Object.assign(untold.api, { swap: swapBy(honest) })
  untold.give(100n * ONE)
  const outcome = await untold.run()
  expect(outcome).toMatchObject({
    state: 'stopped',
    message: expect.stringMatching(/is final, and no node tells what it moved\.$/),
  })
  expect(outcome).not.toHaveProperty('bought')
  const { swaps } = await untold.report()
  expect(swaps).toMatchObject([{ status: 'confirmed' }])
  expect(swaps[0]).not.toHaveProperty('bought')
}, 60_000)
