import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { setNextNonce } from '../../../src/transactions/store/nonce-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import {
  ABANDON_AFTER_MS,
  isAbandoned,
  type QueueHeads,
  reportStuck,
  STUCK_AFTER_MS,
} from '../../../src/transactions/watch/stuck.ts'
import { attemptOf, eip1559, TO } from '../../chains/evm/build.ts'
import { itemOf } from '../build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const EXPIRY = { hasExpired: async () => true, reSignable: () => true }

interface Situation {
  readonly change?: Partial<Transaction>
  /** The outcome of the attempt that was signed before; absent for none. */
  readonly outcome?: Attempt['outcome']
  /** False on a chain where signed bytes do not expire. */
  readonly expires?: boolean
  /** A worker changes the record, or somebody deletes the relayer, after the record was read. */
  readonly meanwhile?: 'changed' | 'deleted'
}

let hashes = 0

/** A transaction with nonce 3 that has been the first of its queue for too long; the counter of its account is at 4. */
async function afterTooLong({ change, outcome, expires = true, meanwhile }: Situation) {
  const stub = createStubChain()
  if (expires) stub.override = { expiry: EXPIRY }
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const { db } = fixture.database
  const [stored] = await insert(
    fixture.context,
    newTransaction(owner, { nonce: 3n, statusReason: 'Waiting.', ...change }),
  )
  if (!stored) throw new Error('nothing was stored')
  const address = stored.sourceAccount ?? ''
  await db.transaction().execute(async (tx) => {
    await setNextNonce(tx, { relayerId: owner.relayer.id, address, nonce: 4n })
    if (outcome === undefined) return
    const attempt = attemptOf(eip1559(10n, 1n), { outcome, nonce: 3n })
    hashes += 1
    const signed = { ...attempt.signed, hash: `0xreleased${hashes}` }
    await insertAttempts(tx, [{ transactionId: stored.id, attempt: { ...attempt, signed } }])
  })
  const context = {
    ...fixture.context,
    relayerOf: async (id: string) => {
      if (meanwhile === 'changed')
        await db
          .transaction()
          .execute((tx) => saveTransactions(tx, [{ ...stored, statusReason: 'Another reason.' }]))
      return meanwhile === 'deleted' ? undefined : fixture.context.relayerOf(id)
    },
  }
  const seen: QueueHeads = new Map()
  await reportStuck(context, seen)
  fixture.clock.advance(STUCK_AFTER_MS)
  await reportStuck(context, seen)
  const { transaction } = await reload(fixture.context, stored)
  const counter = await db
    .selectFrom('accounts')
    .select('next_nonce')
    .where('relayer_id', '=', owner.relayer.id)
    .where('address', '=', address)
    .executeTakeFirstOrThrow()
  const lines = fixture.logLines.filter((line) => line.transaction === stored.id)
  return { owner, transaction, counter: counter.next_nonce, lines, seen }
}

async function incidentsOf({ id }: Transaction): Promise<number> {
  const rows = await fixture.database.db
    .selectFrom('events')
    .select('number')
    .where('transaction_id', '=', id)
    .where('type', '=', 'transaction_stuck')
    .execute()
  return rows.length
}

describe('the nonce of a stuck transaction', () => {
  test.each<{ name: string } & Situation>([
    { name: 'that nothing was signed with', change: {} },
    { name: 'that only expired bytes use', outcome: 'expired' },
    { name: 'that only superseded bytes use', outcome: 'superseded' },
  ])('$name is released where bytes expire', async ({ name: _name, ...situation }) => {
    const { transaction, counter } = await afterTooLong(situation)
    expect(transaction).toMatchObject({
      status: 'pending',
      nonce: undefined,
      sourceAccount: undefined,
      stuckSince: new Date(fixture.clock.now()),
    })
    expect(counter).toBeNull()
    expect(await incidentsOf(transaction)).toBe(1)
  })

  test.each<{ name: string } & Situation>([
    { name: 'where no later nonce could be included before it', expires: false },
    { name: 'when a node may have bytes that use it', outcome: 'broadcast' },
    { name: 'when a node refused bytes that another may have', outcome: 'refused' },
    { name: 'when it is signed', change: { status: 'submitted' } },
    { name: 'that belongs to a third party', change: { sourceAccount: TO } },
    { name: 'when the relayer was deleted meanwhile', meanwhile: 'deleted' },
  ])('stays $name', async ({ name: _name, ...situation }) => {
    const { transaction, counter } = await afterTooLong(situation)
    expect(transaction).toMatchObject({ nonce: 3n, stuckSince: new Date(fixture.clock.now()) })
    expect(transaction.sourceAccount).toBeDefined()
    expect(counter).toBe(4n)
    expect(await incidentsOf(transaction)).toBe(1)
  })

  test('stays, and nothing is announced, when a worker changes the record first', async () => {
    const { transaction, counter, lines } = await afterTooLong({ meanwhile: 'changed' })
    expect(transaction).toMatchObject({ nonce: 3n, statusReason: 'Another reason.' })
    expect(transaction.stuckSince).toBeUndefined()
    expect(counter).toBe(4n)
    expect(await incidentsOf(transaction)).toBe(0)
    expect(lines).toEqual([])
  })
})

test('the incident is in the log, with the reason for the wait', async () => {
  const { owner, transaction, lines } = await afterTooLong({})
  expect(lines).toMatchObject([
    {
      level: 'warn',
      msg: 'transaction incident',
      incident: 'transaction_stuck',
      transaction: transaction.id,
      relayer: owner.relayer.id,
      detail: 'Waiting.',
    },
  ])
})

test('a transaction that comes to the head again waits anew', async () => {
  const { transaction, seen } = await afterTooLong({ expires: false, change: { status: 'submitted' } })
  expect([...seen.keys()]).toContain(transaction.id)
  const { db } = fixture.database
  const save = (status: 'mined' | 'submitted', version: number) =>
    db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...transaction, status, version, stuckSince: undefined }]))
  await save('mined', transaction.version)
  await reportStuck(fixture.context, seen)
  expect([...seen.keys()]).not.toContain(transaction.id)
  await save('submitted', transaction.version + 1)
  await reportStuck(fixture.context, seen)
  expect(seen.get(transaction.id)).toBe(fixture.clock.monotonic())
  fixture.clock.advance(STUCK_AFTER_MS - 1)
  await reportStuck(fixture.context, seen)
  expect(await incidentsOf(transaction)).toBe(1)
  fixture.clock.advance(1)
  await reportStuck(fixture.context, seen)
  expect(await incidentsOf(transaction)).toBe(2)
})

const SINCE = new Date(1_000)
const LATER = 1_000 + ABANDON_AFTER_MS

test.each<[string, Partial<Transaction>, number, boolean]>([
  ['stuck for a day', {}, LATER, true],
  ['stuck for less than a day', {}, LATER - 1, false],
  ['not stuck', { stuckSince: undefined }, LATER, false],
  ['without a nonce', { nonce: undefined }, LATER, false],
  ['that is a no-op already', { purpose: 'abandon' }, LATER, false],
])('a transaction %s is abandoned, or not yet', (_name, change, now, want) => {
  expect(isAbandoned(itemOf([{}], { stuckSince: SINCE, ...change }).transaction, now)).toBe(want)
})
