import { Account, Asset, Operation, TransactionBuilder, type xdr } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Outcome } from '../../../plugins/swap/advance.ts'
import type { SwapReport } from '../../../plugins/swap/report.ts'
import { untilReady } from '../../support/plugins.ts'
import { API_KEY, type Transaction } from '../../support/service.ts'
import {
  keypairOf,
  MAIN,
  type StellarScenario,
  startStellarScenario,
  submitTo,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'
import { httpSource, type PriceServer, pluginEntry, startPrices } from './site.ts'

const ISSUER = keypairOf('issuer')
const USDC = new Asset('USDC', ISSUER.publicKey())
const NAME = `USDC:${ISSUER.publicKey()}`

/** Tokens for one lumen. */
const PRICE = '0.25'

let story: StellarScenario
let prices: PriceServer

beforeAll(async () => {
  prices = await startPrices()
  story = await startStellarScenario({
    ledger: { closeEveryMs: 1_000 },
    plugins: [pluginEntry({ swaps: [swapOf('lumens')], callers: ['root'], timeout_seconds: 50 })],
  })
  await untilReady(story.service)
  story.ledger.fund(ISSUER.publicKey(), 10_000n * XLM)
  const operations = [
    { type: 'change_trust', asset: { type: 'credit4', code: 'USDC', issuer: ISSUER.publicKey() } },
  ]
  const { id } = await story.send({ network: 'standalone', operations })
  await story.reach(id, 'confirmed')
  await pay('1000')
}, 60_000)
afterAll(async () => {
  await story.stop()
  await prices.stop()
})
beforeEach(() => {
  Object.assign(prices, { price: PRICE, ageSeconds: 0 })
  offerAt(1n, 4n)
})

const swapOf = (id: string, changes: object = {}) => ({
  id,
  relayer_id: 'main',
  token: NAME,
  router: { type: 'stellar_path', network: 'standalone' },
  when: { token_above: '0' },
  most_at_once: (50n * XLM).toString(),
  most_a_day: (80n * XLM).toString(),
  price: { sources: [{ type: 'fixed', price: PRICE }, httpSource(prices)] },
  slippage_bps: 50,
  ...changes,
})

/** The price of a lumen in USDC, in which lumens are sold for it. */
const offerAt = (n: bigint, d: bigint) =>
  story.ledger.offer({ seller: ISSUER.publicKey(), selling: 'native', buying: NAME, price: { n, d } })

async function pay(amount: string): Promise<void> {
  const { sequence } = story.ledger.account(ISSUER.publicKey()) ?? { sequence: 0n }
  const payment: xdr.Operation = Operation.payment({ destination: MAIN.publicKey(), asset: USDC, amount })
  const transaction = new TransactionBuilder(new Account(ISSUER.publicKey(), String(sequence)), {
    fee: '100',
    networkPassphrase: story.ledger.passphrase,
  })
    .addOperation(payment)
    .setTimeout(0)
    .build()
  transaction.sign(ISSUER)
  await submitTo(story.ledger, transaction.toXDR())
  await until(
    async () => tokens(),
    (has) => has > 0n,
  )
}

const tokens = () => story.ledger.account(MAIN.publicKey())?.trustlines[0]?.balance ?? 0n
const lumens = () => story.ledger.account(MAIN.publicKey())?.balance ?? 0n

async function call<Body>(path: string, init: RequestInit = {}): Promise<Body> {
  const response = await fetch(`${story.service.url}/swap${path}`, {
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...init,
  })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Body
}

function feeOf({ receipt }: Partial<Transaction> = {}): bigint {
  return receipt && 'fee_charged' in receipt ? BigInt(receipt.fee_charged ?? 0) : 0n
}

const run = async () =>
  (await call<{ swaps: readonly Outcome[] }>('/run', { method: 'POST', body: '{}' })).swaps[0]

async function configure(id: string, changes: object = {}): Promise<void> {
  const config = { swaps: [swapOf(id, changes)], callers: ['root'], timeout_seconds: 50 }
  const { status, body } = await story.service.api('PATCH', '/plugins/swap', { config })
  if (status !== 200) throw new Error(body.error)
}

test('Tokens become lumens in one transaction, within the ceiling of a day, and the ledger tells how many', async () => {
  const before = { tokens: tokens(), lumens: lumens() }
  expect(await run()).toMatchObject({
    state: 'swapped',
    sold: String(50n * XLM),
    bought: String(200n * XLM),
  })
  expect(before.tokens - tokens()).toBe(50n * XLM)
  const { body } = await story.service.api<Transaction[]>('GET', '/transactions?reference=swap:main')
  const [sale] = body.data
  expect(body.data).toHaveLength(1)
  expect(lumens() - before.lumens).toBe(200n * XLM - feeOf(sale))
  expect(sale?.description).toBe(
    `Swap lumens: sell ${50n * XLM} of ${NAME} for at least ${199n * XLM}. Tokens for a coin: fixed 0.25, http 0.25.`,
  )
  expect(await run()).toMatchObject({ state: 'swapped', sold: String(30n * XLM) })
  expect(await run()).toMatchObject({ state: 'refused', code: 'most_a_day' })
  const { swaps, fees } = await call<SwapReport>(`/swaps?day=${new Date().toISOString().slice(0, 10)}`)
  expect(swaps.map(({ bought, prices: told }) => [bought, told.map(({ loss_bps }) => loss_bps)])).toEqual([
    [String(120n * XLM), ['0', '0']],
    [String(200n * XLM), ['0', '0']],
  ])
  expect(fees).toEqual([{ relayer_id: 'main', amount: expect.stringMatching(/^[1-9]\d*$/) }])
}, 60_000)

test('A market that is worse than the prices takes nothing but the fee', async () => {
  await configure('worse')
  offerAt(26n, 100n)
  const before = tokens()
  expect(await run()).toMatchObject({ state: 'ended', message: expect.stringContaining('failed') })
  expect(tokens()).toBe(before)
}, 60_000)

test.each<[string, string, object]>([
  ['lies', 'prices_differ', { price: '0.5' }],
  ['is stale', 'price_unavailable', { ageSeconds: 100 }],
])('Nothing is sold while one of the sources %s', async (_, code, changes) => {
  await configure('source')
  Object.assign(prices, changes)
  expect(await run()).toMatchObject({ state: 'refused', code })
})

test('A relayer on another network, and fees above their share, are refused', async () => {
  await configure('elsewhere', { router: { type: 'stellar_path', network: 'pubnet' } })
  expect(await run()).toMatchObject({ state: 'refused', code: 'wrong_network' })
  await configure('tiny', { most_at_once: '10' })
  expect(await run()).toMatchObject({ state: 'refused', code: 'costs_too_much' })
})
