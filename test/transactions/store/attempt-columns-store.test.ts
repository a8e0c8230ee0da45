import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import {
  type AttemptNews,
  findAttempts,
  insertAttempts,
  saveOutcomes,
} from '../../../src/transactions/store/attempts-store.ts'
import { readSnapshots } from '../../../src/transactions/store/event-payload-store.ts'
import { announceIncident, saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, eip1559, requestOf } from '../../chains/evm/build.ts'
import { writerOf } from '../../support/writer-of.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const SENT_AT = new Date('2030-01-01T00:00:00.000Z')
const LATER = new Date('2030-01-01T00:00:30.000Z')
const BLOCK = { number: 9n, hash: '0x9' }
const RESULT = { feeCharged: 2n ** 80n }

async function withAttempts(count: number): Promise<Transaction> {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const [transaction] = await insert(
    fixture.context,
    newTransaction(owner, {
      status: 'sent',
      nonce: 5n,
      sourceAccount: owner.relayer.address,
      currentAttempt: 1,
    }),
  )
  if (!transaction) throw new Error('nothing was stored')
  const attempts = Array.from({ length: count }, (_, index) => {
    const attempt = attemptOf(eip1559(10n, 1n), { number: index + 1, outcome: 'signed' })
    return { ...attempt, signed: { ...attempt.signed, hash: `${transaction.id}-${index}` } }
  })
  await fixture.context.db.transaction().execute((tx) =>
    insertAttempts(
      tx,
      attempts.map((attempt) => ({ transactionId: transaction.id, attempt })),
    ),
  )
  return transaction
}

/** Saves both in one database transaction, as the service does, and returns the transaction as it is then. */
async function save(
  before: Transaction,
  change: Partial<Transaction>,
  news: readonly Omit<AttemptNews, 'transactionId'>[] = [],
): Promise<Transaction> {
  const outcomes = news.map((one) => ({ ...one, transactionId: before.id }))
  await fixture.context.db.transaction().execute(async (tx) => {
    await saveTransactions(writerOf(tx), [{ ...before, ...change }])
    await saveOutcomes(tx, outcomes)
  })
  return (await reload(fixture.context, before)).transaction
}

const accept = (transaction: Transaction, number = 1) =>
  save(
    transaction,
    {
      status: 'submitted',
      ...(transaction.sentAt === undefined && { sentAt: SENT_AT, acceptedAttempt: number }),
    },
    [{ number, outcome: 'broadcast', broadcastAt: transaction.sentAt === undefined ? SENT_AT : LATER }],
  )

const include = (transaction: Transaction, outcome: 'mined' | 'reverted' = 'mined') =>
  save(transaction, { status: 'mined', block: BLOCK, inclusion: { outcome, result: RESULT } }, [
    { number: transaction.currentAttempt ?? 0, outcome, result: RESULT },
  ])

async function shown({ id }: Transaction): Promise<(string | undefined)[][]> {
  const found = await findAttempts(fixture.context.db, [{ id } as Transaction])
  return (found.get(id) ?? []).map(({ outcome, broadcastAt, result }: Attempt) => [
    outcome,
    broadcastAt?.toISOString(),
    result?.feeCharged?.toString(),
  ])
}

/** The versions of the rows, which change with every write. */
async function rowVersions({ id }: Transaction): Promise<string[]> {
  const { rows } = await sql<{ xmin: string }>`
    select xmin::text from attempts where transaction_id = ${id} order by number`.execute(fixture.context.db)
  return rows.map(({ xmin }) => xmin)
}

const AT = SENT_AT.toISOString()
const FEE = String(RESULT.feeCharged)

describe('an attempt', () => {
  test.each(['mined', 'reverted'] as const)('is written once on the way to %s', async (outcome) => {
    const sent = await withAttempts(1)
    const written = await rowVersions(sent)
    expect(await shown(sent)).toEqual([['signed', undefined, undefined]])
    const submitted = await accept(sent)
    expect(await shown(sent)).toEqual([['broadcast', AT, undefined]])
    const again = await accept(submitted)
    expect(await shown(sent)).toEqual([['broadcast', AT, undefined]])
    await include(again, outcome)
    expect(await shown(sent)).toEqual([[outcome, AT, FEE]])
    expect(await rowVersions(sent)).toEqual(written)
  })

  test('keeps its result when its block is gone, and is mined again', async () => {
    const mined = await include(await accept(await withAttempts(1)))
    const reopened = { number: 1, outcome: 'broadcast', result: RESULT } as const
    const open = await save(mined, { status: 'submitted', block: undefined, inclusion: undefined }, [
      reopened,
    ])
    expect(await shown(mined)).toEqual([['broadcast', AT, FEE]])
    await include(open)
    expect(await shown(mined)).toEqual([['mined', AT, FEE]])
  })

  test('that another one replaces has an outcome of its own', async () => {
    const accepted = await accept(await withAttempts(2))
    const replaced = await accept(await save(accepted, { status: 'sent', currentAttempt: 2 }), 2)
    expect(await shown(replaced)).toEqual([
      ['broadcast', AT, undefined],
      ['broadcast', LATER.toISOString(), undefined],
    ])
    await save(replaced, { status: 'mined', block: BLOCK, inclusion: { outcome: 'mined', result: RESULT } }, [
      { number: 1, outcome: 'superseded' },
      { number: 2, outcome: 'mined', result: RESULT },
    ])
    expect(await shown(replaced)).toEqual([
      ['superseded', AT, undefined],
      ['mined', LATER.toISOString(), FEE],
    ])
  })

  test('is shown as accepted only where the transaction was saved, too', async () => {
    const sent = await withAttempts(1)
    await save(sent, { status: 'sent', statusReason: 'another writer was first' })
    await accept(sent)
    expect(await shown(sent)).toEqual([['broadcast', AT, undefined]])
    expect((await reload(fixture.context, sent)).transaction).toMatchObject({ status: 'sent' })
  })
})

test('an event shows the request and the purpose of its time', async () => {
  const first = await withAttempts(1)
  const second = await accept(await save(first, { request: requestOf({ value: 2n ** 70n }) }))
  const third = await save(second, { status: 'sent', request: requestOf({ value: 3n }), purpose: 'cancel' })
  expect(await contentOfEvents(first)).toEqual([
    { request: first.request, purpose: 'request', status: 'sent' },
    { request: second.request, purpose: 'request', status: 'sent' },
    { request: second.request, purpose: 'request', status: 'submitted' },
    { request: third.request, purpose: 'cancel', status: 'sent' },
  ])
})

test('a change that keeps the request leaves the stored one, and its events show the former purpose', async () => {
  const { id, request, ...state } = await withAttempts(1)
  const changed = {
    ...state,
    id,
    request: requestOf({ value: 7n }),
    purpose: 'abandon',
    status: 'submitted',
  } as const
  await fixture.context.db
    .transaction()
    .execute((tx) => saveTransactions(writerOf(tx), [changed], { keepsRequest: true }))
  expect(await contentOfEvents({ id })).toEqual([
    { request, purpose: 'request', status: 'sent' },
    { request, purpose: 'abandon', status: 'submitted' },
  ])
})

test.each([1, 2])(
  'a replacement after statement %i of the reading changes no earlier event',
  async (statement) => {
    const first = await withAttempts(1)
    let statements = 0
    const replacing = fixture.context.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        statements += 1
        if (statements === statement)
          await save(first, { request: requestOf({ value: 3n }), purpose: 'cancel' })
        return result
      },
    })
    expect(await contentOfEvents(first, replacing)).toEqual([
      { request: first.request, purpose: 'request', status: 'sent' },
    ])
    expect(statements).toBeGreaterThanOrEqual(statement)
  },
)

test('events of changes and of incidents have exact integers beyond 2^53', async () => {
  const nonce = 2n ** 62n + 1n
  const stored = await save(await withAttempts(1), { nonce, block: { number: 2n ** 54n + 1n, hash: '0x1' } })
  await fixture.context.db
    .transaction()
    .execute((tx) => announceIncident(tx, 'transaction_stuck', [stored.id]))
  const snapshots = await snapshotsOf(stored)
  expect(
    [...snapshots.values()].map(({ transaction }) => [transaction.nonce, transaction.block?.number]),
  ).toEqual([
    [5n, undefined],
    [nonce, 2n ** 54n + 1n],
    [nonce, 2n ** 54n + 1n],
  ])
})

async function snapshotsOf({ id }: Pick<Transaction, 'id'>, db = fixture.context.db) {
  const { rows } = await sql<{ number: bigint }>`
    select number from events where transaction_id = ${id} order by number`.execute(fixture.context.db)
  return readSnapshots(
    db,
    rows.map(({ number }) => ({ number, transactionId: id })),
  )
}

/** The content that each event about the transaction shows, oldest first. */
async function contentOfEvents(about: Pick<Transaction, 'id'>, db = fixture.context.db): Promise<object[]> {
  const snapshots = [...(await snapshotsOf(about, db))].sort(([one], [other]) => Number(one - other))
  return snapshots.map(
    ([
      ,
      {
        transaction: { request, purpose, status },
      },
    ]) => ({ request, purpose, status }),
  )
}
