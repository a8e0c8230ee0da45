import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HistoryMark, HistoryReading } from '../../../src/chains/capabilities.ts'
import type { HistoryCheck } from '../../../src/relayers/health/health.ts'
import { raiseHistoryMark } from '../../../src/relayers/store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { createHistoryChecker } from '../../../src/transactions/submit/check-history.ts'
import { until } from '../../support/until.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const UNEXPLAINED = [{ hash: 'paid', slot: 7n, sha256: 'digest' }] as never

/** A chain whose history is told when the test says so, from the mark that was asked for. */
function slowHistory() {
  const asked: { readonly mark: HistoryMark | undefined; readonly tell: () => void }[] = []
  const chain = {
    ...chainOf(createStubChain()),
    history: {
      readAfter: (_address: string, mark: HistoryMark | undefined) =>
        new Promise((resolve) => {
          const unexplained = (mark?.slot ?? 0n) < 7n ? UNEXPLAINED : []
          const value: HistoryReading = { unexplained, asOf: 10n, mark: { slot: 10n } }
          asked.push({ mark, tell: () => resolve({ kind: 'ok', value }) })
        }),
    },
  } as never
  return { chain, asked }
}

test('checks at the same mark share a read, and one that follows an acceptance does not get what was found before', async () => {
  const { db, clock, log } = fixture.context
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { check } = createHistoryChecker({ db, clock, log })
  const { chain, asked } = slowHistory()
  await raiseHistoryMark(db, relayer, { slot: 5n })
  const before = [check(relayer, chain), check(relayer, chain)]
  await until(
    async () => asked.length,
    (count) => count === 1,
  )
  await raiseHistoryMark(db, relayer, { slot: 8n })
  const after = check(relayer, chain)
  await until(
    async () => asked.map(({ mark }) => mark?.slot),
    (slots) => slots.length === 2,
  )
  for (const { tell } of asked) tell()
  expect(asked.map(({ mark }) => mark?.slot)).toEqual([5n, 8n])
  expect((await Promise.all(before)).map(({ kind }) => kind)).toEqual(['unexplained', 'unexplained'])
  expect((await after).kind).toBe('explained')
})

test('an account has rested that was not compared for a minute', async () => {
  const { db, clock, log } = fixture.context
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { check, hasRested } = createHistoryChecker({ db, clock, log })
  const { chain, asked } = slowHistory()
  expect(hasRested(relayer, chain)).toBe(true)
  const checked = check(relayer, chain)
  await until(
    async () => asked.length,
    (count) => count === 1,
  )
  asked[0]?.tell()
  await checked
  fixture.clock.advance(60_000)
  expect(hasRested(relayer, chain)).toBe(false)
  fixture.clock.advance(1)
  expect(hasRested(relayer, chain)).toBe(true)
  expect(hasRested(relayer, chainOf(createStubChain()))).toBe(false)
})

test('a mark that this process has seen does not make an account unknown when it is old, and another old one does', async () => {
  const { db, clock, log } = fixture.context
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { check } = createHistoryChecker({ db, clock, log })
  let asOf = 1_000n
  const readAfter = async (_address: string, mark: HistoryMark | undefined) => ({
    kind: 'ok',
    value: { unexplained: [], asOf, mark: mark ?? { slot: asOf } },
  })
  const chain = { ...chainOf(createStubChain()), history: { readAfter } } as never
  expect((await check(relayer, chain)).kind).toBe('explained')
  asOf = 100_000n
  expect((await check(relayer, chain)).kind).toBe('explained')
  await raiseHistoryMark(db, relayer, { slot: 1_001n })
  expect((await check(relayer, chain)).kind).toBe('unknown')
  asOf += 400n
  expect((await check(relayer, chain)).kind).toBe('explained')
})

test('an old mark explains nothing until what was signed before the start can no longer be included', async () => {
  const { db, clock, log } = fixture.context
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { check } = createHistoryChecker({ db, clock, log })
  let asOf = 0n
  const history = {
    readAfter: async () => ({ kind: 'ok', value: { unexplained: [], asOf, mark: { slot: asOf } } }),
  }
  const chain = { ...chainOf(createStubChain()), history } as never
  await raiseHistoryMark(db, relayer, { slot: 1_000n })
  const kindAt = async (slot: bigint) => {
    asOf = slot
    return (await check(relayer, chain)).kind
  }
  // Blocks of 400 slots contain the 151 in which it can be included, and the 32 that make it final.
  expect(await kindAt(4_001n)).toBe('unknown')
  expect(await kindAt(4_400n)).toBe('unknown')
  expect(await kindAt(4_401n)).toBe('explained')
  expect(await kindAt(7_401n)).toBe('explained')
})

test.each<[HistoryCheck, readonly string[], string | undefined]>([
  [{ kind: 'explained' }, ['submitted', 'submitted', 'submitted'], undefined],
  [
    { kind: 'unknown', detail: 'silent' },
    ['submitted', 'pending', 'pending'],
    'Waiting for the history of the account, which shows whether it was signed before: silent.',
  ],
  [
    { kind: 'unexplained', transactions: UNEXPLAINED, explainedTo: 5n },
    ['pending', 'pending', 'pending'],
    undefined,
  ],
])(
  '$kind history lets a waiting transaction through that cannot have been signed before',
  async (check, statuses, reason) => {
    const stub = createStubChain()
    const chain = { ...chainOf(stub), history: {} } as never
    const owner = await fixture.addAccount({ chain })
    const [first, second, third] = [newTransaction(owner), newTransaction(owner), newTransaction(owner)]
    const transactions = await insert(fixture.context, first, second, third)
    // It has waited, so it may have been signed with another database.
    await fixture.database.db.transaction().execute((tx) => saveTransactions(tx, [second]))
    const health: string[] = []
    const context = {
      ...fixture.context,
      checkHistory: async () => check,
      checkHealth: async ({ id }: { id: string }) => void health.push(id),
    }
    await workAccount(context, owner.relayer.id)
    const now = await Promise.all(transactions.map((transaction) => reload(fixture.context, transaction)))
    expect(now.map(({ transaction: { status } }) => status)).toEqual(statuses)
    expect(now[1]?.transaction.statusReason).toBe(reason)
    expect(health).toEqual(check.kind === 'unexplained' ? [owner.relayer.id] : [])
  },
)
