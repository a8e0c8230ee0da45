import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Purpose, Transaction } from '../../../src/transactions/model/transaction.ts'
import { planChange } from '../../../src/transactions/replace/plan-change.ts'
import { carryOut, createReplacer } from '../../../src/transactions/replace/replace.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, draftOf, eip1559, legacy, requestOf, TO } from '../../chains/evm/build.ts'
import { ACTOR, CANCELS } from '../../support/samples.ts'
import {
  eventsOf,
  type Fixture,
  insert,
  newTransaction,
  openFixture,
  pendingCancelerOf,
  reload,
} from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('the replacement of a pending transaction', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  let hashes = 0

  /** A pending transaction with this change; `expired` when bytes were signed for it and have expired. */
  async function setUp(change: Partial<Transaction> = {}, { expired = false } = {}) {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const [stored] = await insert(
      fixture.context,
      newTransaction(owner, { cost: 5n, statusReason: 'Waiting.', estimatedGas: 3n, ...change }),
    )
    if (!stored) throw new Error('nothing was stored')
    if (expired) {
      const attempt = attemptOf(eip1559(10n, 1n), { outcome: 'expired' })
      hashes += 1
      const signed = { ...attempt.signed, hash: `0xpending${hashes}` }
      await fixture.database.db
        .transaction()
        .execute((tx) => insertAttempts(tx, [{ transactionId: stored.id, attempt: { ...attempt, signed } }]))
    }
    fixture.clock.advance(5_000)
    const replacer = createReplacer(fixture.context)
    const replace = (value: bigint) =>
      replacer.replace({ relayer: owner.relayer, id: stored.id, request: requestOf({ value }), actor: ACTOR })
    const cancel = () => replacer.cancel({ relayer: owner.relayer, id: stored.id, ...CANCELS })
    return { stub, owner, stored, replace, cancel, now: () => reload(fixture.context, stored) }
  }

  const NOTHING_SIGNED = 'Nothing had been signed; the new content replaced it.'
  const NOT_IN_EFFECT = 'The signed attempts no longer count; the new content replaced them.'

  describe('new content for a pending transaction', () => {
    test.each([
      { name: 'that was never signed', expired: false, log: NOTHING_SIGNED },
      { name: 'whose bytes have expired', expired: true, log: NOT_IN_EFFECT },
    ])('$name is stored with its cost, and runs now', async ({ expired, log }) => {
      const { stored, replace, now } = await setUp({ purpose: 'successor' }, { expired })
      const { transaction, attempts, logs } = await replace(7n)
      expect(transaction).toMatchObject({
        status: 'pending',
        purpose: 'request',
        request: { value: 7n },
        // 21,000 gas at 100 wei, and the value.
        cost: 2_100_007n,
        nextRunAt: new Date(fixture.clock.now()),
        version: stored.version + 1,
      })
      expect([transaction.statusReason, transaction.estimatedGas]).toEqual([undefined, undefined])
      expect(attempts).toHaveLength(expired ? 1 : 0)
      expect(logs).toEqual([log])
      expect((await now()).transaction).toEqual(transaction)
    })

    test('is stored although a worker notes again and again why it waits, while it is prepared', async () => {
      const { stub, stored, replace, cancel, now } = await setUp()
      const { prepare } = chainOf(createStubChain())
      let prepared = 0
      stub.override = {
        prepare: async (...question) => {
          prepared += 1
          const { transaction } = await now()
          const waiting = {
            ...transaction,
            statusReason: `Waiting (${prepared}).`,
            nextRunAt: new Date(prepared),
          }
          await fixture.context.db.transaction().execute((tx) => saveTransactions(tx, [waiting]))
          return prepare(...question)
        },
      }
      expect((await replace(7n)).transaction).toMatchObject({
        request: { value: 7n },
        version: stored.version + 2,
      })
      expect(prepared).toBe(1)
      expect((await cancel()).transaction.status).toBe('canceled')
    })

    test('keeps the gas and the sentences of its preparation', async () => {
      const { stub, replace } = await setUp()
      const { prepare } = chainOf(createStubChain())
      stub.override = {
        prepare: async (...question) => {
          const answer = await prepare(...question)
          if (answer.kind !== 'ok') return answer
          return { kind: 'ok', value: { ...answer.value, knownGas: 4_321n, logs: ['The tip is low.'] } }
        },
      }
      const { transaction, logs } = await replace(7n)
      expect(transaction.estimatedGas).toBe(4_321n)
      expect(logs).toEqual([NOTHING_SIGNED, 'The tip is low.'])
    })

    test('that no endpoint can prepare now reserves what it moves, and is prepared later', async () => {
      const { stub, replace } = await setUp()
      stub.override = { prepare: async () => ({ kind: 'unknown', detail: 'time-out' }) }
      const { transaction, logs } = await replace(7n)
      expect(transaction).toMatchObject({ status: 'pending', request: { value: 7n }, cost: 7n })
      expect(transaction.estimatedGas).toBeUndefined()
      expect(logs).toEqual([NOTHING_SIGNED])
    })

    const reverts = { code: 'execution_reverted', detail: 'It would revert.' } as const
    const isIncluded = { code: 'invalid_request', detail: 'Block 9 includes it.' } as const
    const included = { draft: draftOf(legacy(1n)), logs: [], included: isIncluded.detail }

    test.each([
      ['a node refuses', { kind: 'refused', refusal: reverts }, reverts],
      ['a block includes already', { kind: 'ok', value: included }, isIncluded],
    ] as const)('that %s changes nothing', async (_, answer, refusal) => {
      const { stub, stored, replace, now } = await setUp()
      stub.override = { prepare: async () => answer }
      await expect(replace(7n)).rejects.toMatchObject(refusal)
      expect((await now()).transaction).toMatchObject({ version: stored.version, request: stored.request })
    })

    test.each([
      { name: 'the minimum balance, too', balance: 2_100_007n, refused: true },
      {
        name: 'all but the minimum balance, without its own reservation',
        balance: 2_100_008n,
        refused: false,
      },
    ])('that costs $name is refused: $refused', async ({ balance, refused }) => {
      const { stub, replace } = await setUp({ cost: 10n ** 18n })
      stub.balance = { kind: 'ok', value: balance }
      if (refused) await expect(replace(7n)).rejects.toMatchObject({ code: 'insufficient_balance' })
      else expect((await replace(7n)).transaction.cost).toBe(2_100_007n)
    })

    test('is not refused when no endpoint tells the balance (I6)', async () => {
      const { stub, replace } = await setUp()
      stub.balance = { kind: 'unknown', detail: 'time-out' }
      expect((await replace(10n ** 20n)).transaction.request).toMatchObject({ value: 10n ** 20n })
    })
  })

  describe('the cancellation of a pending transaction', () => {
    const BEFORE_SIGNING = 'Canceled by the caller before anything was signed.'
    const AFTER_PROOF = 'Canceled by the caller; the chain proved that no signed version was included.'

    test.each<[string, Partial<Transaction>, boolean, string]>([
      ['without a nonce', {}, false, BEFORE_SIGNING],
      ['whose bytes have expired', {}, true, AFTER_PROOF],
      ['with the nonce of a third party', { sourceAccount: TO, nonce: 5n }, false, BEFORE_SIGNING],
    ])('%s ends it immediately', async (_name, change, expired, statusReason) => {
      const { stored, cancel, now } = await setUp(change, { expired })
      const { transaction, logs } = await cancel()
      expect(transaction).toMatchObject({ status: 'canceled', statusReason, cost: 0n })
      expect([transaction.nonce, transaction.sourceAccount]).toEqual([undefined, undefined])
      expect(logs).toEqual([])
      expect((await now()).transaction).toEqual(transaction)
      expect(await eventsOf(fixture.context, stored)).toEqual(['pending', 'canceled'])
    })

    test('with a nonce of the service lets a no-op take the nonce now', async () => {
      const { stored, cancel, now } = await setUp({ nonce: 5n })
      const { transaction } = await cancel()
      expect(transaction).toMatchObject({
        status: 'pending',
        purpose: 'cancel',
        statusReason: 'Canceled by the caller; a no-op will use its nonce.',
        nonce: 5n,
        sourceAccount: stored.from,
        nextRunAt: new Date(fixture.clock.now()),
      })
      expect((await now()).transaction).toEqual(transaction)
    })
  })

  test('a change of a record that another writer changed first is not stored', async () => {
    const { owner, stored, now } = await setUp()
    await fixture.database.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...stored, statusReason: 'Another writer was faster.' }]))
    const change = { relayer: owner.relayer, id: stored.id, ...CANCELS }
    const before = { transaction: stored, attempts: [] }
    const { plan } = await planChange(fixture.context, change, before)
    if (plan === undefined) throw new Error('a cancellation was not planned')
    expect(await carryOut(fixture.context, { change, before, plan })).toBeUndefined()
    expect((await now()).transaction).toMatchObject({ status: 'pending' })
  })

  test('a record that changes at every try is given up after twenty', async () => {
    const { stub, stored, replace, now } = await setUp()
    const { prepare } = chainOf(createStubChain())
    let tries = 0
    stub.override = {
      prepare: async (...question) => {
        tries += 1
        const { transaction } = await now()
        const changed = { ...transaction, cost: transaction.cost + 1n }
        await fixture.database.db.transaction().execute((tx) => saveTransactions(tx, [changed]))
        return prepare(...question)
      },
    }
    await expect(replace(7n)).rejects.toThrow(
      `transaction ${stored.id} changed 20 times while it was being replaced`,
    )
    expect(tries).toBe(20)
  })
})

describe('the cancellation of a pending transaction', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** An account with as many pending transactions, oldest first, and a canceler; `before` runs before each cancellation. */
  async function setUp(count: number, before: (id: string) => void = () => {}) {
    const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    const waiting = await insert(
      fixture.context,
      ...Array.from({ length: count }, () => newTransaction(owner, { cost: 5n })),
    )
    const replacer = createReplacer(fixture.context)
    const cancelPending = pendingCancelerOf(fixture.context, {
      cancel: ({ relayer, id }) => {
        before(id)
        return replacer.cancel({ relayer, id, ...CANCELS })
      },
    })
    const abort = new AbortController()
    return { owner, waiting, ids: waiting.map(({ id }) => id), abort, cancelPending }
  }

  describe('canceling everything that waits', () => {
    test('begins none after ten seconds, tells how many are left, and goes on when it is repeated', async () => {
      const { owner, ids, abort, cancelPending } = await setUp(4, () => fixture.clock.advance(6_000))
      const [first, second, third, fourth] = ids
      expect(await cancelPending(owner.relayer, ACTOR, abort.signal)).toEqual({
        canceled: [fourth, third],
        failures: [],
        remaining: 2,
      })
      expect(await cancelPending(owner.relayer, ACTOR, abort.signal)).toEqual({
        canceled: [second, first],
        failures: [],
        remaining: 0,
      })
    })

    test('stops when the caller no longer waits for the answer', async () => {
      const { owner, ids, abort, cancelPending } = await setUp(3, (id) => {
        if (id === ids[1]) abort.abort()
      })
      expect(await cancelPending(owner.relayer, ACTOR, abort.signal)).toMatchObject({
        canceled: [ids[2], ids[1]],
        remaining: 1,
      })
    })

    test('each cancellation is stored with its event', async () => {
      const { owner, waiting, abort, cancelPending } = await setUp(2)
      await cancelPending(owner.relayer, ACTOR, abort.signal)
      for (const transaction of waiting) {
        expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
          status: 'canceled',
          cost: 0n,
        })
        expect(await eventsOf(fixture.context, transaction)).toEqual(['pending', 'canceled'])
      }
    })

    test('handles at most a thousand', async () => {
      const { owner, waiting, ids, abort } = await setUp(1_003)
      const [transaction] = waiting
      if (!transaction) throw new Error('nothing was stored')
      const asked: string[] = []
      const cancelPending = pendingCancelerOf(fixture.context, {
        cancel: async ({ id }) => {
          asked.push(id)
          return { transaction, attempts: [], logs: [] }
        },
      })
      const { canceled, remaining } = await cancelPending(owner.relayer, ACTOR, abort.signal)
      expect([canceled.length, remaining]).toEqual([1_000, 3])
      expect(asked).toEqual(ids.toReversed().slice(0, 1_000))
    })

    test('a fault of ours is one failure that says nothing of its inside', async () => {
      const { owner, ids, abort, cancelPending } = await setUp(2, (id) => {
        if (id === ids[1]) throw new Error('a secret of the inside')
      })
      const { canceled, failures, remaining } = await cancelPending(owner.relayer, ACTOR, abort.signal)
      expect({ canceled, remaining }).toEqual({ canceled: [ids[0]], remaining: 0 })
      expect(failures).toMatchObject([{ id: ids[1], error: { code: 'internal_error' } }])
      expect(failures[0]?.error.detail).not.toContain('secret')
    })

    test.each<Purpose>(['cancel', 'expire', 'abandon', 'gap_filler', 'setup'])(
      'what the service does by itself (%s) is left alone',
      async (purpose) => {
        const { owner, abort, cancelPending } = await setUp(0)
        await insert(fixture.context, newTransaction(owner, { purpose, nonce: 0n }))
        expect(await cancelPending(owner.relayer, ACTOR, abort.signal)).toEqual({
          canceled: [],
          failures: [],
          remaining: 0,
        })
      },
    )
  })
})
