import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attempt, Draft } from '../../../src/chains/attempt.ts'
import { LeaseLostError } from '../../../src/database/lease.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { findLatestSetup } from '../../../src/transactions/store/due-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { runSetupTransaction } from '../../../src/transactions/submit/failed-preparation.ts'
import { type Signable, sameBytes, signAndStore, signAttempt } from '../../../src/transactions/submit/sign.ts'
import { draftOf, legacy, requestOf } from '../../chains/evm/build.ts'
import { itemOf } from '../build.ts'
import {
  type Fixture,
  insert,
  leaseOf,
  lostLeaseOf,
  newTransaction,
  openFixture,
  reload,
} from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

async function setUp() {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const store = async (change: Partial<Transaction> = {}) => {
    const [stored] = await insert(fixture.context, newTransaction(owner, { nonce: 0n, ...change }))
    if (!stored) throw new Error('nothing was stored')
    return stored
  }
  const signableOf = (transaction: Transaction, change: Partial<Signable> = {}): Signable => ({
    transaction,
    attempts: [],
    draft: draftOf(legacy(0n), { value: 5n }),
    kind: 'send',
    ...change,
  })
  const sign = (...signables: readonly Signable[]) =>
    signAndStore(fixture.context, { runtime: owner.runtime, signables })
  return { stub, owner, store, signableOf, sign }
}

/** Stores the bytes of this content as an attempt with this outcome. */
async function attempted(
  { owner, store }: Awaited<ReturnType<typeof setUp>>,
  {
    draft,
    outcome,
    change = {},
  }: { draft: Draft; outcome: Attempt['outcome']; change?: Partial<Transaction> },
) {
  const transaction = await store(change)
  const signable = { transaction, attempts: [], draft, kind: 'send' } as const
  const attempt = { ...(await signAttempt(fixture.context, owner.runtime, signable)), outcome }
  await fixture.database.db
    .transaction()
    .execute((tx) => insertAttempts(tx, [{ transactionId: transaction.id, attempt }]))
  return reload(fixture.context, transaction)
}

describe('a signed attempt', () => {
  test('is stored with the status, its number, and what it can cost', async () => {
    const { owner, store, signableOf, sign } = await setUp()
    const transaction = await store({ stuckSince: new Date(1) })
    const [item] = await sign(signableOf(transaction))
    const signedAt = new Date(fixture.clock.now())
    expect(item?.transaction).toMatchObject({
      status: 'sent',
      purpose: 'request',
      currentAttempt: 1,
      cost: 5n,
      nextRunAt: new Date(signedAt.getTime() + 1_000),
      stuckSince: undefined,
      version: 2,
    })
    expect(item?.attempts).toMatchObject([
      {
        number: 1,
        kind: 'send',
        outcome: 'signed',
        nonce: 0n,
        sourceAccount: owner.relayer.address,
        signedAt,
      },
    ])
    expect(await reload(fixture.context, transaction)).toEqual(item)
  })

  test.each<[Attempt['outcome'], bigint]>([
    ['signed', 9n],
    ['broadcast', 9n],
    ['refused', 5n],
    ['superseded', 5n],
  ])(
    'reserves the most expensive content that can be included, beside one that is %s',
    async (outcome, cost) => {
      const parts = await setUp()
      const draft = draftOf(legacy(0n), { value: 9n })
      const change = { status: 'submitted', stuckSince: new Date(1) } as const
      const { transaction, attempts } = await attempted(parts, { draft, outcome, change })
      const stuckSince = new Date(7)
      const stuck = { ...transaction, stuckSince }
      const [item] = await parts.sign(parts.signableOf(stuck, { attempts, kind: 'replace' }))
      expect(item?.transaction).toMatchObject({ status: 'sent', currentAttempt: 2, cost, stuckSince })
      expect(item?.attempts.map(({ number }) => number)).toEqual([1, 2])
    },
  )

  test('is not stored by a process that has lost the account to another one', async () => {
    const { owner, store, signableOf } = await setUp()
    const transaction = await store()
    const lease = await lostLeaseOf(fixture.context, owner)
    const signing = signAndStore(fixture.context, {
      runtime: owner.runtime,
      signables: [signableOf(transaction)],
      lease,
    })
    await expect(signing).rejects.toThrow(LeaseLostError)
    expect(await reload(fixture.context, transaction)).toEqual({ transaction, attempts: [] })
  })

  test('of a replacement that waited makes it a request', async () => {
    const { store, signableOf, sign } = await setUp()
    const [item] = await sign(signableOf(await store({ purpose: 'successor' }), { kind: 'replace' }))
    expect(item?.transaction.purpose).toBe('request')
  })

  test('with the same bytes as an earlier one is that one again', async () => {
    const parts = await setUp()
    const { draft } = parts.signableOf(await parts.store({ nonce: 9n }))
    const { transaction, attempts } = await attempted(parts, { draft, outcome: 'broadcast' })
    const [item] = await parts.sign(parts.signableOf(transaction, { attempts, kind: 're_sign' }))
    expect(item?.transaction).toMatchObject({ status: 'sent', currentAttempt: 1 })
    expect((await reload(fixture.context, transaction)).attempts).toMatchObject([
      { number: 1, kind: 'send', outcome: 'broadcast' },
    ])
  })

  test('with the same bytes as an expired one is not used', async () => {
    const parts = await setUp()
    const { draft } = parts.signableOf(await parts.store({ nonce: 9n }))
    const { transaction, attempts } = await attempted(parts, { draft, outcome: 'expired' })
    expect(await parts.sign(parts.signableOf(transaction, { attempts }))).toEqual([])
    expect((await reload(fixture.context, transaction)).transaction.status).toBe('pending')
  })

  test('of a record that changed meanwhile is not stored, and the others are', async () => {
    const { store, signableOf, sign } = await setUp()
    const [changed, other] = [await store(), await store({ nonce: 1n })]
    await fixture.database.db.transaction().execute((tx) => saveTransactions(tx, [changed]))
    const items = await sign(signableOf(changed), signableOf(other))
    expect(items.map(({ transaction }) => transaction.id)).toEqual([other.id])
    expect((await reload(fixture.context, changed)).attempts).toEqual([])
  })

  test('needs a nonce where the chain has nonces', async () => {
    const { store, signableOf, sign } = await setUp()
    const transaction = await store({ nonce: undefined, sourceAccount: undefined })
    await expect(sign(signableOf(transaction))).rejects.toThrow(
      `transaction ${transaction.id} has no nonce to sign with`,
    )
    expect(await sign()).toEqual([])
  })
})

test('the attempt with the same bytes is found by its hash', () => {
  const [first, second] = itemOf([{}, {}]).attempts
  if (!first || !second) throw new Error('there are two')
  expect(sameBytes([first, second], { ...second, number: 7 })).toBe(second)
  expect(sameBytes([first], second)).toBeUndefined()
})

describe('the same bytes for two transactions, on a chain without nonces', () => {
  async function withoutNonces(reSignable: boolean) {
    const parts = await setUp()
    const { sign } = chainOf(createStubChain())
    parts.stub.override = {
      sequencing: undefined,
      expiry: { hasExpired: async () => false, reSignable: () => reSignable },
      sign: (draft, signingContext) => sign(draft, { ...signingContext, nonce: 0n }),
    }
    const unnumbered = { nonce: undefined, sourceAccount: undefined, cost: 5n }
    const store = () => parts.store(unnumbered)
    return { ...parts, store }
  }

  test.each([
    { reSignable: true, status: 'pending', cost: 5n, waits: 1_000 },
    { reSignable: false, status: 'failed', cost: 0n, waits: 0 },
  ])(
    'belong to the first; the other is signed again ($reSignable), or ends',
    async ({ reSignable, status, cost, waits }) => {
      const { store, signableOf, sign } = await withoutNonces(reSignable)
      const [first, second, different] = [await store(), await store(), await store()]
      const draft = draftOf(legacy(0n), { value: 6n })
      const items = await sign(signableOf(first), signableOf(second), signableOf(different, { draft }))
      expect(items.map(({ transaction }) => transaction.id)).toEqual([first.id, different.id])
      const statusReason = reSignable
        ? `Transaction ${first.id} has the same bytes; this one is signed with another blockhash.`
        : `The same signed transaction was accepted before, as ${first.id}.`
      const { transaction } = await reload(fixture.context, second)
      expect(transaction).toMatchObject({ status, statusReason, cost })
      expect(transaction.nextRunAt).toEqual(new Date(second.nextRunAt.getTime() + waits))
      const third = await store()
      expect(await sign(signableOf(third))).toEqual([])
      expect((await reload(fixture.context, third)).transaction.statusReason).toContain(first.id)
    },
  )

  test('may be used twice where nonces tell them apart', async () => {
    const { store, signableOf, sign } = await setUp()
    const items = await sign(signableOf(await store()), signableOf(await store({ nonce: 1n })))
    expect(items).toHaveLength(2)
  })
})

describe('a setup transaction', () => {
  async function queue() {
    const { owner } = await setUp()
    const created: Transaction[] = []
    const observer = {
      created: (some: readonly Transaction[]) => void created.push(...some),
      submitted() {},
      finished() {},
      paid() {},
    }
    const lease = await leaseOf(fixture.context, owner)
    const leased = { relayer: owner.relayer, runtime: owner.runtime, lease }
    const setup = { request: requestOf({ value: 3n }), detail: 'Opens 1 channel account.' }
    const run = () => runSetupTransaction({ ...fixture.context, observer }, leased, setup)
    const lines = () => fixture.logLines.filter((line) => line.relayer === owner.relayer.id)
    const end = async (status: Transaction['status']) => {
      const last = created.at(-1)
      if (!last) throw new Error('nothing was queued')
      const { transaction } = await reload(fixture.context, last)
      await fixture.database.db
        .transaction()
        .execute((tx) => saveTransactions(tx, [{ ...transaction, status }]))
    }
    await run()
    return { owner, created, run, lines, end }
  }

  test('is queued with its reason, reported and logged', async () => {
    const { owner, created, lines } = await queue()
    const now = new Date(fixture.clock.now())
    expect(created).toMatchObject([
      {
        relayerId: owner.relayer.id,
        network: owner.relayer.network,
        from: owner.relayer.address,
        status: 'pending',
        statusReason: 'Opens 1 channel account.',
        purpose: 'setup',
        request: { value: 3n },
        cost: 3n,
        version: 1,
        createdAt: now,
        nextRunAt: now,
      },
    ])
    expect(lines()).toMatchObject([
      {
        level: 'info',
        msg: 'setup transaction queued',
        transaction: created[0]?.id,
        detail: 'Opens 1 channel account.',
      },
    ])
  })

  test('is not queued by a process that has lost the account to another one', async () => {
    const { owner } = await setUp()
    const lease = await lostLeaseOf(fixture.context, owner)
    const leased = { relayer: owner.relayer, runtime: owner.runtime, lease }
    const setup = { request: requestOf({ value: 3n }), detail: 'Opens 1 channel account.' }
    await expect(runSetupTransaction(fixture.context, leased, setup)).rejects.toThrow(LeaseLostError)
    expect(await findLatestSetup(fixture.context.db, owner.relayer.id)).toBeUndefined()
  })

  test.each<[Transaction['status'], number, number]>([
    ['pending', 3_600_000, 1],
    ['mined', 3_600_000, 1],
    ['confirmed', 0, 2],
    ['failed', 59_999, 1],
    ['failed', 60_000, 2],
    ['expired', 59_999, 1],
  ])('that is %s since %i ms: there are %i', async (status, ms, count) => {
    const { created, run, lines, end } = await queue()
    await end(status)
    fixture.clock.advance(ms)
    await run()
    expect([created.length, lines().length]).toEqual([count, count])
  })
})
