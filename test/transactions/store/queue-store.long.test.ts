import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Db } from '../../../src/database/db.ts'
import { insertApprovals, saveDecision } from '../../../src/transactions/approvals/approvals-store.ts'
import {
  PURPOSES,
  TRANSACTION_STATUSES,
  type Transaction,
} from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { findDueRelayers, hasDuePending } from '../../../src/transactions/store/due-store.ts'
import { readSnapshots } from '../../../src/transactions/store/event-payload-store.ts'
import { findByNonce } from '../../../src/transactions/store/lookups-store.ts'
import {
  countAhead,
  findHead,
  findHeadSince,
  findOpenRequests,
  findQueueHeads,
  findSubmittable,
  measureQueue,
} from '../../../src/transactions/store/queue-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, eip1559, requestOf, TO } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('the store of the queue', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const db = () => fixture.database.db
  const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })
  const save = (transaction: Transaction) =>
    db()
      .transaction()
      .execute((tx) => saveTransactions(tx, [transaction]))

  /** Stores transactions of the owner, and tells their names by their ids. */
  async function insertNamed(owner: TestAccount, changes: Readonly<Record<string, Partial<Transaction>>>) {
    const stored = new Map<string, Transaction>()
    for (const [name, change] of Object.entries(changes)) {
      const transaction = newTransaction(owner, change)
      await insert(fixture.context, transaction)
      if (change.stuckSince !== undefined) await save(transaction)
      stored.set(name, transaction)
    }
    const names = new Map([...stored].map(([name, { id }]) => [id, name]))
    return {
      namesOf: (ids: readonly string[]) => ids.flatMap((id) => names.get(id) ?? []),
      get: (name: string) => {
        const transaction = stored.get(name)
        if (!transaction) throw new Error(`${name} was not stored`)
        return transaction
      },
    }
  }

  const idsOf = (transactions: readonly Transaction[]) => transactions.map(({ id }) => id)

  test('a transaction waits for its turn since its approval', async () => {
    const owner = await account()
    const { id: relayerId } = owner.relayer
    const [accepted, approved, now] = [0, 60_000, 61_000].map((ms) => new Date(fixture.clock.now() + ms))
    if (!accepted || !approved || !now) throw new Error('a time is missing')
    const [transaction] = await insert(fixture.context, newTransaction(owner, { createdAt: accepted }))
    const transactionId = transaction?.id ?? ''
    const measure = () => measureQueue(db(), { relayerId, now, limit: 10 })
    expect(await measure()).toEqual({ count: 1, oldestAt: accepted })
    const approval = { transactionId, relayerId, requestedBy: 'one', reasons: [], createdAt: accepted }
    await db()
      .transaction()
      .execute(async (tx) => {
        await insertApprovals(tx, [{ ...approval, expiresAt: now }])
        await saveDecision(tx, transactionId, { decision: 'approved', decidedAt: approved, decidedBy: 'two' })
      })
    expect(await measure()).toEqual({ count: 1, oldestAt: approved })
  })
  const STUCK = { stuckSince: new Date(0) }

  describe('the heads of the queues', () => {
    test('are the lowest signed nonce of each source account, and the first pending one of each relayer', async () => {
      const owner = await account()
      const { namesOf } = await insertNamed(owner, {
        'high nonce': { status: 'sent', nonce: 9n },
        'low nonce': { status: 'submitted', nonce: 8n },
        mined: { status: 'mined', nonce: 7n },
        channel: { status: 'sent', nonce: 3n, sourceAccount: TO },
        unnumbered: { status: 'sent' },
        overtaken: STUCK,
        first: {},
        second: {},
      })
      const heads = namesOf(idsOf(await findQueueHeads(db(), new Date())))
      expect(heads.toSorted()).toEqual(['channel', 'first', 'low nonce'])
    })

    test('that are pending are those with a nonce first, also when they are stuck', async () => {
      const owner = await account()
      const { namesOf } = await insertNamed(owner, {
        first: {},
        'stuck with a nonce': { ...STUCK, nonce: 4n },
      })
      expect(namesOf(idsOf(await findQueueHeads(db(), new Date())))).toEqual(['stuck with a nonce'])
    })

    test.each([{ paused: true }, { system_disabled: true }])(
      'of a relayer that signs nothing are only the signed ones: %o',
      async (change) => {
        const owner = await account()
        const { namesOf } = await insertNamed(owner, { pending: {}, signed: { status: 'sent', nonce: 1n } })
        await db().updateTable('relayers').set(change).where('id', '=', owner.relayer.id).execute()
        expect(namesOf(idsOf(await findQueueHeads(db(), new Date())))).toEqual(['signed'])
      },
    )
  })

  describe('transactions that were overtaken', () => {
    test('are pending, stuck, due and without a nonce, in the order of acceptance', async () => {
      const owner = await account()
      const now = new Date(fixture.clock.now())
      const { namesOf } = await insertNamed(owner, {
        first: STUCK,
        second: STUCK,
        'with a nonce': { ...STUCK, nonce: 1n },
        'not stuck': {},
        signed: { ...STUCK, status: 'sent' },
        'not due': {
          ...STUCK,
          createdAt: new Date(now.getTime() - 1),
          nextRunAt: new Date(now.getTime() + 1),
        },
      })
      await insertNamed(await account(), { other: STUCK })
      const find = async (limit: number) =>
        namesOf(
          idsOf(
            (await findSubmittable(db(), owner.relayer.id, { now, limits: { pending: 9, overtaken: limit } }))
              .overtaken,
          ),
        )
      expect(await find(9)).toEqual(['first', 'second'])
      expect(await find(1)).toEqual(['first'])
    })
  })

  describe('the head of one relayer', () => {
    test('is its lowest nonce that is signed and not mined', async () => {
      const owner = await account()
      expect(await findHead(db(), owner.relayer.id)).toBeUndefined()
      const { namesOf } = await insertNamed(owner, {
        high: { status: 'sent', nonce: 9n },
        low: { status: 'submitted', nonce: 8n },
        mined: { status: 'mined', nonce: 7n },
        pending: { nonce: 6n },
      })
      const head = await findHead(db(), owner.relayer.id)
      expect(namesOf(head ? [head.id] : [])).toEqual(['low'])
    })

    test('is the head since its predecessor was mined, the last time', async () => {
      const owner = await account()
      const { get } = await insertNamed(owner, {
        head: { status: 'sent', nonce: 5n },
        predecessor: { status: 'submitted', nonce: 4n },
        'of another line': { status: 'mined', nonce: 4n, sourceAccount: TO },
        'of an earlier nonce': { status: 'mined', nonce: 3n },
      })
      const head = get('head')
      expect(await findHeadSince(db(), head)).toBeUndefined()
      let { transaction } = await reload(fixture.context, get('predecessor'))
      for (const status of ['mined', 'submitted', 'mined', 'confirmed'] as const) {
        await save({ ...transaction, status })
        transaction = (await reload(fixture.context, transaction)).transaction
      }
      const events = await db()
        .selectFrom('events')
        .select(['number', 'payload'])
        .where('transaction_id', '=', transaction.id)
        .orderBy('number')
        .execute()
      for (const [index, { number }] of events.entries())
        await db()
          .updateTable('events')
          .set({ created_at: new Date(index * 1_000) })
          .where('number', '=', number)
          .execute()
      expect(events.map(({ payload }) => (payload as { status: string }).status)).toEqual([
        'submitted',
        'mined',
        'submitted',
        'mined',
        'confirmed',
      ])
      expect(await findHeadSince(db(), head)).toEqual(new Date(3_000))
      expect(await findHeadSince(db(), { ...head, nonce: undefined })).toBeUndefined()
      expect(await findHeadSince(db(), { ...head, sourceAccount: undefined })).toBeUndefined()
      expect(await findHeadSince(db(), { ...head, relayerId: (await account()).relayer.id })).toBeUndefined()
    })
  })

  describe('the number of open transactions before one', () => {
    test.each([
      { of: 'low', ahead: 0 },
      { of: 'high', ahead: 1 },
      { of: 'first', ahead: 2 },
      { of: 'second', ahead: 3 },
    ])('$of: $ahead', async ({ of, ahead }) => {
      const owner = await account()
      const { get } = await insertNamed(owner, {
        first: {},
        high: { status: 'sent', nonce: 9n },
        low: { nonce: 8n },
        mined: { status: 'mined', nonce: 7n },
        failed: { status: 'failed' },
        second: {},
      })
      await insertNamed(await account(), { other: { status: 'sent', nonce: 1n } })
      expect(await countAhead(db(), get(of), new Date())).toBe(ahead)
    })
  })

  describe('the requests that can still be canceled', () => {
    test('are newest first, with their total number', async () => {
      const owner = await account()
      const { namesOf } = await insertNamed(owner, {
        ...Object.fromEntries(TRANSACTION_STATUSES.map((status) => [status, { status }])),
        ...Object.fromEntries(PURPOSES.map((purpose) => [purpose, { purpose }])),
      })
      await insertNamed(await account(), { other: {} })
      const find = async (limit: number) => {
        const { items, total } = await findOpenRequests(db(), [owner.relayer.id], limit)
        return { names: namesOf(items.map(({ id }) => id)), total }
      }
      const newest = ['successor', 'request', 'submitted', 'sent', 'pending']
      expect(await find(10)).toEqual({ names: newest, total: 5 })
      expect(await find(2)).toEqual({ names: newest.slice(0, 2), total: 5 })
      expect(await findOpenRequests(db(), [(await account()).relayer.id], 10)).toEqual({
        items: [],
        total: 0,
      })
    })
  })

  test('a transaction is found by the nonce of the own account on the present network', async () => {
    const owner = await account()
    const { get } = await insertNamed(owner, {
      wanted: { nonce: 5n },
      channel: { nonce: 6n, sourceAccount: TO },
      'on another network': { nonce: 7n, network: 'another' },
    })
    await insertNamed(await account(), { other: { nonce: 8n } })
    const attempt = attemptOf(eip1559(10n, 1n), {})
    const signed = { ...attempt.signed, hash: '0xbynonce' }
    await db()
      .transaction()
      .execute((tx) =>
        insertAttempts(tx, [{ transactionId: get('wanted').id, attempt: { ...attempt, signed } }]),
      )
    const found = await findByNonce(db(), owner.relayer, 5n)
    expect(found).toEqual(await reload(fixture.context, get('wanted')))
    expect(found?.attempts).toHaveLength(1)
    for (const nonce of [4n, 6n, 7n, 8n])
      expect(await findByNonce(db(), owner.relayer, nonce)).toBeUndefined()
  })

  describe('the snapshot of an event', () => {
    test('shows the transaction and its attempt as they were then', async () => {
      const owner = await account()
      const [inserted] = await insert(
        fixture.context,
        newTransaction(owner, { nonce: 5n, request: requestOf({ value: 2n ** 70n }) }),
      )
      if (!inserted) throw new Error('nothing was stored')
      const attempt = attemptOf(eip1559(10n, 1n), { outcome: 'mined' })
      const signed = { ...attempt.signed, hash: '0xsnapshot' }
      await db()
        .transaction()
        .execute((tx) =>
          insertAttempts(tx, [{ transactionId: inserted.id, attempt: { ...attempt, signed } }]),
        )
      const broadcastAt = new Date('2100-01-01T00:00:05.000Z')
      await db()
        .updateTable('attempts')
        .set({ broadcast_at: broadcastAt, result: JSON.stringify({ appliedHash: '0xapplied' }) as never })
        .where('transaction_id', '=', inserted.id)
        .execute()
      const block = { number: 9n, hash: '0x9' }
      let { transaction } = await reload(fixture.context, inserted)
      for (const change of [
        { status: 'sent', currentAttempt: 1 },
        { status: 'submitted' },
        { status: 'mined', block },
      ] as const) {
        await save({ ...transaction, ...change })
        transaction = (await reload(fixture.context, inserted)).transaction
      }
      const events = await db()
        .selectFrom('events')
        .select('number')
        .where('transaction_id', '=', inserted.id)
        .orderBy('number')
        .execute()
      const numbers = events.map(({ number }) => number)
      const eventsOf = (chosen: readonly bigint[]) =>
        chosen.map((number) => ({ number, transactionId: inserted.id }))
      const snapshots = await readSnapshots(db(), eventsOf(numbers))
      const seen = numbers.map((number) => {
        const { transaction: then, attempts } = snapshots.get(number) ?? { attempts: [] }
        const [shown] = attempts
        return [then?.status, then?.request, then?.block, shown && [shown.broadcastAt, shown.result]]
      })
      const { request } = inserted
      const result = { appliedHash: '0xapplied' }
      expect(seen).toEqual([
        ['pending', request, undefined, undefined],
        ['sent', request, undefined, [undefined, undefined]],
        ['submitted', request, undefined, [broadcastAt, undefined]],
        ['mined', request, block, [broadcastAt, result]],
      ])
      const [, , third] = numbers
      expect([...(await readSnapshots(db(), eventsOf(numbers.slice(2, 3)))).keys()]).toEqual([third])
      expect(await readSnapshots(db(), [])).toEqual(new Map())
    })
  })
})

describe('the reads of a backlog', () => {
  let fixture: Fixture
  let owner: TestAccount
  let now: Date

  /** There are 20,000 pending transactions of one relayer. Ten have their nonce, and ten are setup transactions. */
  beforeAll(async () => {
    fixture = await openFixture()
    const { db, clock } = fixture.context
    owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    now = new Date(clock.now())
    await sql`
    insert into transactions
      (id, relayer_id, network, from_address, status, purpose, request, created_at, next_run_at, nonce,
        source_account)
    select 'many-' || number, ${owner.relayer.id}, 'testnet', '0x', 'pending',
      case when number > 19990 then 'setup' else 'request' end, '{"type": "evm"}', ${now}, ${now},
      case when number between 10000 and 10009 then number end,
      case when number between 10000 and 10009 then '0x' end
    from generate_series(1, 20000) as number`.execute(db)
    await sql`analyze`.execute(db)
  }, 60_000)
  afterAll(() => fixture.close())

  /** Returns the number of rows of `transactions` that the database reads for this, in a table or through an index. */
  async function countReads(read: (db: Db) => Promise<unknown>): Promise<number> {
    return fixture.context.db.transaction().execute(async (tx) => {
      const before = await readCount(tx)
      await read(tx)
      return (await readCount(tx)) - before
    })
  }

  async function readCount(db: Db): Promise<number> {
    const { rows } = await sql<{ count: bigint }>`
    select pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid) as count
    from pg_class where relname = 'transactions'`.execute(db)
    return Number(rows[0]?.count)
  }

  test('the reads of a whole table are counted', async () => {
    const all = sql`select max(request::text) from transactions`
    expect(await countReads((db) => all.execute(db))).toBe(20_000)
  })

  test('a step reads as many pending transactions as it may sign, those with a nonce and of setup first', async () => {
    const limits = { pending: 30, overtaken: 10 }
    const find = (db: Db) => findSubmittable(db, owner.relayer.id, { now, limits })
    expect(await countReads(find)).toBeLessThanOrEqual(2 * limits.pending)
    const { pending, overtaken } = await find(fixture.context.db)
    const numbers = [
      ...Array.from({ length: 10 }, (_, index) => 10_000 + index),
      ...Array.from({ length: 10 }, (_, index) => 19_991 + index),
      ...Array.from({ length: 10 }, (_, index) => 1 + index),
    ]
    expect(pending.map(({ id }) => id)).toEqual(numbers.map((number) => `many-${number}`))
    expect(overtaken).toEqual([])
  })

  test('a search for accounts with work to do reads a few transactions of each', async () => {
    expect(await countReads((db) => findDueRelayers(db, now))).toBeLessThanOrEqual(10)
    expect(await countReads((db) => hasDuePending(db, owner.relayer.id, now))).toBeLessThanOrEqual(10)
    expect(await findDueRelayers(fixture.context.db, now)).toEqual([owner.relayer.id])
  })
})
