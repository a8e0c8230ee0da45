import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  TRANSACTION_STATUSES,
  type Transaction,
  type TransactionStatus,
} from '../../../src/transactions/model/transaction.ts'
import { phaseOf } from '../../../src/transactions/store/codec.ts'
import {
  findDueInFlight,
  findDueRelayers,
  findLatestSetup,
  findWatched,
  hasWatched,
  measureInFlight,
  NO_SOURCE_ACCOUNT,
  postponeTransactions,
  reservedBy,
} from '../../../src/transactions/store/due-store.ts'
import { findSubmittable } from '../../../src/transactions/store/queue-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { requestOf, TO } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('the store of work', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })
  const db = () => fixture.database.db
  const NOW = new Date('2090-01-01T00:00:00.000Z')
  const before = new Date(NOW.getTime() - 60_000)
  const later = (ms: number) => new Date(NOW.getTime() + ms)

  /** Stores transactions of the owner and gives their ids by name. */
  async function insertNamed(
    owner: TestAccount,
    changes: Readonly<Record<string, Partial<Transaction>>>,
  ): Promise<(ids: readonly string[]) => (string | undefined)[]> {
    const names = new Map<string, string>()
    for (const [name, change] of Object.entries(changes)) {
      const transaction = newTransaction(owner, { createdAt: before, nextRunAt: NOW, ...change })
      await insert(fixture.context, transaction)
      if (change.stuckSince !== undefined)
        await db()
          .transaction()
          .execute((tx) => saveTransactions(tx, [transaction]))
      names.set(transaction.id, name)
    }
    return (ids) => ids.map((id) => names.get(id))
  }

  const findPending = async (owner: TestAccount, now: Date, limit: number) => {
    const limits = { pending: limit, overtaken: 9 }
    return (await findSubmittable(db(), owner.relayer.id, { now, limits })).pending
  }

  const idsOf = (transactions: readonly Transaction[]) => transactions.map(({ id }) => id)

  test('a transaction for a later time is pending work once it has a nonce, and then it reserves its cost', async () => {
    const owner = await account()
    const request = requestOf({ validFrom: later(1) })
    const nameOf = await insertNamed(owner, {
      'without a nonce': { request, cost: 1n },
      'with a nonce': { request, cost: 2n, sourceAccount: owner.relayer.address, nonce: 1n },
    })
    const find = (now: Date) => findPending(owner, now, 9)
    expect(nameOf(idsOf(await find(NOW)))).toEqual(['with a nonce'])
    expect(await reservedBy(db(), owner.relayer.id, { now: NOW })).toBe(2n)
    expect(nameOf(idsOf(await find(later(1))))).toEqual(['with a nonce', 'without a nonce'])
    expect(await reservedBy(db(), owner.relayer.id, { now: later(1) })).toBe(3n)
  })

  describe('the relayers with work', () => {
    test.each<[string, Partial<Transaction>, boolean]>([
      ['pending and due', {}, true],
      ['sent and due', { status: 'sent' }, true],
      ['submitted and due', { status: 'submitted' }, true],
      ['due a moment later', { nextRunAt: later(1) }, false],
      ['written while the clock was ahead', { nextRunAt: later(300_001) }, true],
      ['for a later time', { request: requestOf({ validFrom: later(1) }) }, false],
      ['for a time that has come', { request: requestOf({ validFrom: NOW }) }, true],
      ['for a later time, and signed', { request: requestOf({ validFrom: later(1) }), status: 'sent' }, true],
      ['pending, and has never waited', { createdAt: later(5), nextRunAt: later(5) }, true],
      [
        'sent, and runs when it was created',
        { status: 'sent', createdAt: later(5), nextRunAt: later(5) },
        false,
      ],
      ['mined', { status: 'mined' }, false],
      ['confirmed', { status: 'confirmed' }, false],
    ])('include that of a transaction that is %s, or not', async (_name, change, want) => {
      const owner = await account()
      await insertNamed(owner, { one: change, other: change })
      const found = (await findDueRelayers(db(), NOW)).filter((id) => id === owner.relayer.id)
      expect(found).toEqual(want ? [owner.relayer.id] : [])
    })
  })

  describe('pending transactions', () => {
    test('come by nonce, then setup transactions, then in the order of acceptance; overtaken ones do not', async () => {
      const owner = await account()
      const named = await insertNamed(owner, {
        first: {},
        second: {},
        overtaken: { stuckSince: before },
        'stuck with a nonce': { stuckSince: before, nonce: 8n },
        setup: { purpose: 'setup' },
        numbered: { nonce: 7n },
        sent: { status: 'sent', nonce: 1n },
      })
      await insertNamed(await account(), { other: {} })
      const find = async (limit: number) => named(idsOf(await findPending(owner, NOW, limit)))
      expect(await find(10)).toEqual(['numbered', 'stuck with a nonce', 'setup', 'first', 'second'])
      expect(await find(2)).toEqual(['numbered', 'stuck with a nonce'])
    })
  })

  describe('transactions that are signed and not mined', () => {
    test('are counted by source account, and their costs are summed', async () => {
      const owner = await account()
      const changes: [string, Partial<Transaction>][] = TRANSACTION_STATUSES.map((status, index) => [
        status,
        { status, nonce: BigInt(index), cost: 10n ** BigInt(index) },
      ])
      await insertNamed(owner, {
        ...Object.fromEntries(changes),
        channel: { status: 'sent', sourceAccount: TO, nonce: 1n, cost: 5n },
        unnumbered: { status: 'sent', cost: 7n },
      })
      await insertNamed(await account(), { other: { status: 'sent', nonce: 1n, cost: 3n } })
      expect(await measureInFlight(db(), owner.relayer.id)).toEqual({
        counts: new Map([
          [owner.relayer.address, 2],
          [TO, 1],
          [NO_SOURCE_ACCOUNT, 1],
        ]),
        reserved: 10n + 100n + 5n + 7n,
      })
      const nothing = { counts: new Map(), reserved: 0n }
      expect(await measureInFlight(db(), (await account()).relayer.id)).toEqual(nothing)
    })

    test('are due by nonce', async () => {
      const owner = await account()
      const named = await insertNamed(owner, {
        high: { status: 'sent', nonce: 9n },
        low: { status: 'submitted', nonce: 2n },
        early: { status: 'submitted', nonce: 1n, nextRunAt: later(1) },
        pending: { nonce: 0n },
      })
      await insertNamed(await account(), { other: { status: 'sent', nonce: 1n } })
      const due = await findDueInFlight(db(), owner.relayer.id, NOW)
      expect(named(idsOf(due))).toEqual(['low', 'high'])
    })
  })

  describe('transactions that are signed and not final', () => {
    test.each(
      TRANSACTION_STATUSES.map((status) => [status, ['sent', 'submitted', 'mined'].includes(status)]),
    )('%s counts: %s', async (status, want) => {
      const owner = await account()
      await insertNamed(owner, { one: { status: status as Transaction['status'], nonce: 1n } })
      const ids = [owner.relayer.id]
      expect(await hasWatched(db(), ids)).toBe(want)
      expect(await findWatched(db(), ids)).toHaveLength(want ? 1 : 0)
    })

    test('are those of the named relayers, by nonce', async () => {
      const [one, other, third] = [await account(), await account(), await account()]
      const named = await insertNamed(one, {
        high: { status: 'mined', nonce: 9n },
        low: { status: 'sent', nonce: 2n },
      })
      await insertNamed(third, { foreign: { status: 'sent', nonce: 1n } })
      const ids = [one.relayer.id, other.relayer.id]
      expect(named(idsOf(await findWatched(db(), ids)))).toEqual(['low', 'high'])
      expect(await hasWatched(db(), [other.relayer.id])).toBe(false)
      expect(await hasWatched(db(), [])).toBe(false)
    })

    test('are found among those of many relayers', async () => {
      const [one, other] = [await account(), await account()]
      const others = Array.from({ length: 150 }, (_, index) => `another-${index}`)
      await insertNamed(other, { foreign: { status: 'sent', nonce: 1n } })
      expect(await hasWatched(db(), [...others, one.relayer.id])).toBe(false)
      await insertNamed(one, { own: { status: 'mined', nonce: 1n } })
      expect(await hasWatched(db(), [...others, one.relayer.id])).toBe(true)
    })
  })

  test('the newest setup transaction of a relayer is found, whatever its status', async () => {
    const owner = await account()
    expect(await findLatestSetup(db(), owner.relayer.id)).toBeUndefined()
    const named = await insertNamed(owner, {
      old: { purpose: 'setup' },
      newest: { purpose: 'setup', status: 'failed' },
      request: {},
    })
    await insertNamed(await account(), { other: { purpose: 'setup' } })
    const found = await findLatestSetup(db(), owner.relayer.id)
    expect(named(idsOf(found ? [found] : []))).toEqual(['newest'])
  })

  describe('a postponed transaction', () => {
    const postpone = (transactions: readonly Transaction[]) =>
      db()
        .transaction()
        .execute((tx) => postponeTransactions(tx, transactions))

    test('keeps its version and everything else', async () => {
      const owner = await account()
      const [stored] = await insert(fixture.context, newTransaction(owner))
      if (!stored) throw new Error('nothing was stored')
      const { transaction } = await reload(fixture.context, stored)
      await postpone([{ ...transaction, nextRunAt: NOW, statusReason: 'not written' }])
      expect((await reload(fixture.context, stored)).transaction).toEqual({ ...transaction, nextRunAt: NOW })
    })

    test('that changed meanwhile keeps its own time', async () => {
      const owner = await account()
      const [stored] = await insert(fixture.context, newTransaction(owner))
      if (!stored) throw new Error('nothing was stored')
      await postpone([{ ...stored, version: stored.version + 1, nextRunAt: NOW }])
      expect((await reload(fixture.context, stored)).transaction.nextRunAt).toEqual(stored.nextRunAt)
    })
  })
})

describe('a phase', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const STATUSES: readonly TransactionStatus[] = [
    'pending',
    'sent',
    'submitted',
    'mined',
    'confirmed',
    'failed',
    'canceled',
    'expired',
  ]

  test('the database derives the same phase from each status', async () => {
    const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    await insert(fixture.context, ...STATUSES.map((status) => newTransaction(owner, { status })))
    const rows = await fixture.database.db
      .selectFrom('transactions')
      .select(['status', 'phase'])
      .where('relayer_id', '=', owner.relayer.id)
      .orderBy('position')
      .execute()
    expect(rows).toEqual(STATUSES.map((status) => ({ status, phase: phaseOf(status) })))
  })
})
