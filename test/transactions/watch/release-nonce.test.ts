import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReceiptAnswer } from '../../../src/chains/answer.ts'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { setNextNonce } from '../../../src/transactions/store/nonce-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import {
  ABANDON_AFTER_MS,
  isAbandoned,
  type QueueHeads,
  reportStuck,
  STUCK_AFTER_MS,
} from '../../../src/transactions/watch/stuck.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { attemptOf, eip1559, TO } from '../../chains/evm/build.ts'
import { itemOf } from '../build.ts'
import { combineReceipts } from '../combine-receipts.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt, include } from '../stub-chain.ts'

describe('the release of a nonce', () => {
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
    /** A worker changes the record, or someone deletes the relayer, after the record was read. */
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

  test('a transaction that comes to the head again waits again', async () => {
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
})

describe('a conflict', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  // Found by the simulator (seed 8 on a busy machine): a record that is offered again each second was never given up.
  test('a lost nonce that is proven while the record changes is written at the next look, not after another wait', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub), policies: { sharedAccount: true } })
    const memory = createWatchMemory()
    const [stored] = await insert(fixture.context, newTransaction(owner))
    if (!stored) throw new Error('nothing was stored')
    fixture.clock.advance(1_000)
    await workAccount(fixture.context, owner.relayer.id)
    const look = (height: bigint) => {
      stub.head = headAt(height)
      return watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
    }
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    fixture.clock.advance(31_000)
    stub.override = {
      proveInclusion: async () => {
        const { transaction } = await reload(fixture.context, stored)
        await fixture.database.db.transaction().execute((tx) => saveTransactions(tx, [transaction]))
        return { kind: 'absent' }
      },
    }
    await look(103n)
    expect((await reload(fixture.context, stored)).transaction.status).toBe('submitted')
    stub.override = {}
    await look(103n)
    expect((await reload(fixture.context, stored)).transaction.status).toBe('pending')
  })

  // Found by the simulator on Stellar (seed 7): behind a slow node each look took longer than the second between two offers.
  test('a rebroadcast without a new result does not prevent a decision of the chain', async () => {
    const stub = createStubChain()
    stub.answerBroadcast = () => ({ kind: 'later', detail: 'not yet' })
    const owner = await fixture.addAccount({ chain: chainOf(stub), policies: { sharedAccount: true } })
    const memory = createWatchMemory()
    const [stored] = await insert(fixture.context, newTransaction(owner))
    if (!stored) throw new Error('nothing was stored')
    const answerBroadcast = async () => {
      fixture.clock.advance(1_000)
      await workAccount(fixture.context, owner.relayer.id)
    }
    await answerBroadcast()
    await answerBroadcast()
    const { transaction } = await reload(fixture.context, stored)
    stub.nonce = { kind: 'ok', value: 1n }
    include(stub, stub.broadcasted[0] ?? '')
    stub.override = {
      receipts: async (hashes) => {
        await answerBroadcast()
        return hashes.map((hash) => stub.receipts.get(hash) ?? { kind: 'none' })
      },
    }
    await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
    expect(stub.broadcasted).toHaveLength(3)
    const { transaction: seen } = await reload(fixture.context, stored)
    expect(seen).toMatchObject({ status: 'mined', version: transaction.version + 1 })
  })
})

describe('nonce used elsewhere', () => {
  /** The time in ms until "used elsewhere" is believed. */
  const MISSING_MS = 30_000

  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /**
   * One transaction whose nonce is used, without a receipt at the endpoint that is asked, for long enough to be believed; and
   * what all endpoints together say of it.
   */
  async function judged(everywhere: (hash: string) => ReceiptAnswer) {
    const stub = createStubChain()
    const chain = chainOf(stub)
    const policies = { sharedAccount: true }
    const [neighbour, owner] = [
      await fixture.addAccount({ chain, policies }),
      await fixture.addAccount({ chain, policies }),
    ]
    const [transaction] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
    if (!transaction) throw new Error('nothing was stored')
    await workAccount(fixture.context, owner.relayer.id)
    const asked: (bigint | undefined)[] = []
    stub.nonce = { kind: 'ok', value: 1n }
    stub.override = {
      proveInclusion: async (attempts, { asOf } = {}) => {
        asked.push(asOf)
        return combineReceipts(
          attempts,
          attempts.map(({ signed }) => everywhere(signed.hash)),
        )
      },
    }
    // One look is for all relayers of the network, with the operator of any of them.
    const relayers = [neighbour.relayer, owner.relayer]
    const target = { runtime: neighbour.runtime, relayers, memory: createWatchMemory() }
    for (const height of [100n, 101n, 102n, 103n]) {
      stub.head = headAt(height)
      await watchNetwork(fixture.context, target)
      await watchNetwork(fixture.context, target)
      fixture.clock.advance(MISSING_MS)
    }
    return { item: await reload(fixture.context, transaction), asked }
  }

  test('one endpoint says yes where another says no: included (R6)', async () => {
    const { item } = await judged((hash) => ({
      kind: 'included',
      receipt: { hash, blockNumber: 99n, blockHash: '0xblock99', success: true, gasUsed: 21_000n },
    }))
    expect(item.transaction).toMatchObject({ status: 'mined', block: { number: 99n } })
    expect(item.attempts.map(({ outcome }) => outcome)).toEqual(['mined'])
  })

  test('one endpoint does not answer: nothing is decided, and it is asked again', async () => {
    const { item, asked } = await judged(() => ({ kind: 'unknown' }))
    expect(item.transaction.status).toBe('submitted')
    expect(item.attempts.map(({ outcome }) => outcome)).toEqual(['broadcast'])
    // At one of two looks at the same time: a proof asks every endpoint for much.
    expect(asked).toEqual([103n])
  })

  test('when all endpoints at the head say no, another program has used the nonce', async () => {
    const { item, asked } = await judged(() => ({ kind: 'none' }))
    expect(asked[0]).toBe(103n)
    expect(item.attempts.map(({ outcome }) => outcome)).toEqual(['superseded'])
    expect(item.transaction).toMatchObject({ status: 'pending', nonce: undefined, sourceAccount: undefined })
  })
})
