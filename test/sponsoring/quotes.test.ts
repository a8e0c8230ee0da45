import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findHighTokenBalances } from '../../src/alerts/findings.ts'
import type { SolanaRequest } from '../../src/chains/solana/content.ts'
import type { Database } from '../../src/database/db.ts'
import type { Relayer } from '../../src/relayers/relayer.ts'
import { saveRelayer } from '../../src/relayers/store.ts'
import { endedQuote } from '../../src/sponsoring/fee-payment.ts'
import {
  findBuild,
  findQuote,
  findUsedQuotes,
  type Quote,
  saveQuote,
  useQuotes,
} from '../../src/sponsoring/quotes-store.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'

const NOW = new Date('2026-11-28T10:00:00.000Z')
const later = (ms: number) => new Date(NOW.getTime() + ms)

const RELAYER: Relayer = {
  id: 'main',
  name: 'Main',
  network: 'local',
  networkType: 'solana',
  address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  signerId: 'dev',
  paused: false,
  systemDisabled: false,
  policies: { allowedTokens: [{ mint: 'm', max_token_balance: 100n }] },
}

const QUOTE: Quote = {
  id: 'q',
  relayerId: 'main',
  content: 'c',
  token: 't',
  amount: 2n ** 100n,
  fee: 10_000n,
  payer: 'p',
  validUntil: later(60_000),
}
const BUILT = { ...QUOTE, id: 'b', built: { hash: 'h', receiver: 'r' } }

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(async () => {
  await emptyDatabase(database)
  await database.db.transaction().execute((tx) => saveRelayer(tx, RELAYER))
})
afterAll(() => database.close())

test('a quote is found for its content until its end, and gives its price to one build', async () => {
  const { db } = database
  await saveQuote(db, QUOTE, { now: NOW })
  const asked = { relayerId: 'main', content: 'c' }
  expect(await findQuote(db, { ...asked, now: NOW })).toMatchObject({ id: 'q', amount: 2n ** 100n })
  expect(await findQuote(db, { ...asked, now: later(60_000) })).toBeUndefined()
  expect(await findQuote(db, { ...asked, content: 'other', now: NOW })).toBeUndefined()
  await saveQuote(db, BUILT, { now: NOW, of: 'q' })
  expect(await findQuote(db, { ...asked, now: NOW })).toBeUndefined()
})

test('the same transaction that is built twice is one build, which is used once', async () => {
  const { db } = database
  await saveQuote(db, BUILT, { now: NOW })
  await saveQuote(db, { ...BUILT, id: 'again' }, { now: NOW })
  expect(await findBuild(db, { relayerId: 'main', hash: 'h' })).toMatchObject({ quoteId: 'b', receiver: 'r' })
  const use = () => db.transaction().execute((tx) => useQuotes(tx, [{ quoteId: 'b', transactionId: 'x' }]))
  await use()
  expect(await db.transaction().execute((tx) => findUsedQuotes(tx, ['b', 'none']))).toEqual(new Set(['b']))
  await expect(use()).rejects.toThrow('used by another transaction')
})

test('quotes that ended an hour ago leave with the next one, and used ones two days ago', async () => {
  const { db } = database
  await saveQuote(db, BUILT, { now: NOW })
  await saveQuote(db, QUOTE, { now: NOW })
  await db.transaction().execute((tx) => useQuotes(tx, [{ quoteId: 'b', transactionId: 'x' }]))
  const now = later(3_600_000 + 60_001)
  await saveQuote(db, { ...QUOTE, id: 'next', validUntil: now }, { now })
  const rows = await db.selectFrom('sponsored_quotes').select('id').orderBy('id').execute()
  expect(rows.map(({ id }) => id)).toEqual(['b', 'next'])
  const inDays = later(2 * 86_400_000 + 60_001)
  await saveQuote(db, { ...QUOTE, id: 'much later', validUntil: inDays }, { now: inDays })
  const left = await db.selectFrom('sponsored_quotes').select('id').execute()
  expect(left.map(({ id }) => id)).toEqual(['much later'])
})

test('what comes at the end of its quote is too late', () => {
  const { quoteId, ...payment } = { quoteId: 'b', token: 't', amount: 1n, payer: 'p', receiver: 'r', fee: 1n }
  const request: SolanaRequest = {
    type: 'solana',
    transaction: '',
    speed: 'fast',
    payment: { ...payment, quoteId, validUntil: NOW },
  }
  expect(endedQuote(request, NOW.getTime() - 1)).toBeUndefined()
  expect(endedQuote(request, NOW.getTime())).toMatchObject({ code: 'valid_until_in_past' })
})

test.each([
  [101n, 'firing'],
  [100n, 'unclear'],
  [90n, 'unclear'],
  [89n, 'over'],
  [undefined, 'unclear'],
])('a balance of %s of a token with the most of 100 is %s', (balance, state) => {
  const tokens = new Map(balance === undefined ? [] : [['m', balance]])
  const reading = { relayerId: 'main', network: 'local', networkType: 'solana', tokens } as const
  const [finding] = findHighTokenBalances([RELAYER], [reading], () => undefined)
  expect(finding).toMatchObject({ kind: 'token_balance_high', subject: 'main m', state })
})
