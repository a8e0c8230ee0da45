import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acquireLease } from '../../../src/database/lease.ts'
import { saveRelayer } from '../../../src/relayers/store.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { measureInFlight } from '../../../src/transactions/store/due-store.ts'
import { setNextNonce } from '../../../src/transactions/store/nonce-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { requestOf, TO } from '../../chains/evm/build.ts'
import {
  eventsOf,
  type Fixture,
  insert,
  newTransaction,
  openFixture,
  reload,
  type TestAccount,
} from '../fixture.ts'
import { chainOf, createStubChain, type StubChain } from '../stub-chain.ts'

const LIMIT = 4

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ maxInFlight: LIMIT })
})
afterAll(() => fixture.close())

async function setUp(): Promise<{ stub: StubChain; owner: TestAccount; step: () => Promise<void> }> {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  return { stub, owner, step: () => workAccount(fixture.context, owner.relayer.id) }
}

async function accept(owner: TestAccount, change: Partial<Transaction> = {}): Promise<Transaction> {
  const [transaction] = await insert(fixture.context, newTransaction(owner, change))
  if (!transaction) throw new Error('nothing was stored')
  return transaction
}

const now = (transaction: Transaction) => reload(fixture.context, transaction)
const hashesOf = async (transaction: Transaction) =>
  (await now(transaction)).attempts.map(({ signed }) => signed.hash)

describe('submitting', () => {
  test('numbers, signs and broadcasts in the order of acceptance', async () => {
    const { stub, owner, step } = await setUp()
    stub.nonce = { kind: 'ok', value: 7n }
    const transactions = [await accept(owner), await accept(owner), await accept(owner)]
    await step()
    const stored = await Promise.all(transactions.map(now))
    expect(stored.map(({ transaction }) => [transaction.status, transaction.nonce])).toEqual([
      ['submitted', 7n],
      ['submitted', 8n],
      ['submitted', 9n],
    ])
    expect(stub.broadcasted).toEqual(
      stored.flatMap(({ attempts }) => attempts.map(({ signed }) => signed.hash)),
    )
    expect(await Promise.all(transactions.map((one) => eventsOf(fixture.context, one)))).toEqual(
      transactions.map(() => ['pending', 'sent', 'submitted']),
    )
  })

  test('takes one at a time where pools hold only one of an account (EIP-7702)', async () => {
    const { stub, owner, step } = await setUp()
    stub.override = { sequencing: { ...chainOf(stub).sequencing, inFlightLimit: async () => 1 } }
    const transactions = [await accept(owner), await accept(owner)]
    await step()
    const stored = await Promise.all(transactions.map(now))
    expect(stored.map(({ transaction }) => transaction.status)).toEqual(['submitted', 'pending'])
  })

  test.each([
    { name: 'is signed with while it is recent', ageMs: 119_999, known: 21_500n },
    { name: 'is made again when it is old', ageMs: 120_000, known: undefined },
  ])('an estimate $name', async ({ ageMs, known }) => {
    const { stub, owner, step } = await setUp()
    const chain = chainOf(createStubChain())
    const given: (bigint | undefined)[] = []
    stub.override = {
      prepare: (request, account, knownGas) => {
        given.push(knownGas)
        return chain.prepare(request, account, knownGas)
      },
    }
    const createdAt = new Date(fixture.clock.now() - ageMs)
    // Due already: the clock of the room must not move on to it.
    await accept(owner, { createdAt, estimatedGas: 21_500n, nextRunAt: createdAt })
    await step()
    expect(given).toEqual([known])
  })

  test('bytes and hash are committed before they leave, and no database transaction is open then (I3, I9)', async () => {
    const { stub, owner, step } = await setUp()
    const transaction = await accept(owner)
    const seen: unknown[] = []
    stub.override = {
      // On the one connection of this engine, this read would wait for ever inside an open transaction.
      broadcast: async (raws) => {
        const { transaction: stored, attempts } = await now(transaction)
        seen.push(
          stored.status,
          attempts.map(({ signed }) => Buffer.from(signed.raw)),
          raws.map((raw) => Buffer.from(raw)),
        )
        return raws.map(() => ({ kind: 'accepted' }) as const)
      },
    }
    await step()
    expect(seen[0]).toBe('sent')
    expect(seen[1]).toEqual(seen[2])
    expect((await now(transaction)).transaction.status).toBe('submitted')
  })

  test('submits up to the in-flight limit, and continues when a slot is free', async () => {
    const { stub, owner, step } = await setUp()
    for (let index = 0; index < LIMIT + 2; index += 1) await accept(owner)
    await step()
    await step()
    expect(stub.broadcasted).toHaveLength(LIMIT)
    expect((await measureInFlight(fixture.context.db, owner.relayer.id)).counts).toEqual(
      new Map([[owner.relayer.address, LIMIT]]),
    )
  })

  describe('what waits in a pool', () => {
    async function waiting() {
      const { stub, owner, step } = await setUp()
      for (let index = 0; index < 4; index += 1) await accept(owner)
      await step()
      const hashes = stub.broadcasted.splice(0)
      return { stub, step, hashes }
    }

    test('costs one call for the account, as long as the pool knows the first of it', async () => {
      const { stub, step, hashes } = await waiting()
      stub.answerBroadcast = () => ({ kind: 'accepted', known: true })
      for (let round = 0; round < 3; round += 1) {
        fixture.clock.advance(30_000)
        await step()
      }
      expect(stub.broadcasted).toEqual([hashes[0], hashes[0], hashes[0]])
    })

    test('keeps its version, so that what the chain decides meanwhile can be written', async () => {
      const { stub, owner, step } = await setUp()
      const transactions = [await accept(owner), await accept(owner)]
      await step()
      const before = await Promise.all(transactions.map(now))
      stub.answerBroadcast = () => ({ kind: 'accepted', known: true })
      fixture.clock.advance(30_000)
      await step()
      const after = await Promise.all(transactions.map(now))
      expect(after.map(({ transaction }) => transaction.version)).toEqual(
        before.map(({ transaction }) => transaction.version),
      )
      for (const [index, { transaction }] of after.entries())
        expect(transaction.nextRunAt > (before[index]?.transaction.nextRunAt ?? 0)).toBe(true)
    })

    test('goes out again as a whole, in the order of the nonces, when the pool has lost the first', async () => {
      const { stub, step, hashes } = await waiting()
      fixture.clock.advance(30_000)
      await step()
      expect(stub.broadcasted).toEqual(hashes)
    })

    test('still broadcasts transactions that no node accepted', async () => {
      const { stub, owner, step } = await setUp()
      await accept(owner)
      await step()
      stub.answerBroadcast = () => ({ kind: 'later', detail: 'pool is full' })
      await accept(owner)
      await step()
      const [first, second] = stub.broadcasted.splice(0)
      stub.answerBroadcast = () => ({ kind: 'accepted', known: true })
      fixture.clock.advance(30_000)
      await step()
      expect(stub.broadcasted).toEqual([first, second])
    })

    test('still broadcasts what a block included and lost before any node said that it took it', async () => {
      const { stub, owner, step } = await setUp()
      await accept(owner)
      await step()
      stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
      const lost = await accept(owner)
      await step()
      const { transaction: unanswered } = await now(lost)
      // As a reorganisation leaves it.
      await fixture.context.db
        .transaction()
        .execute((tx) => saveTransactions(tx, [{ ...unanswered, status: 'submitted' }]))
      const [first, second] = stub.broadcasted.splice(0)
      stub.answerBroadcast = () => ({ kind: 'accepted', known: true })
      fixture.clock.advance(30_000)
      await step()
      expect(stub.broadcasted).toEqual([first, second])
      const { transaction, attempts } = await now(lost)
      expect(transaction.sentAt).toEqual(new Date(fixture.clock.now()))
      expect(attempts).toMatchObject([{ outcome: 'broadcast', broadcastAt: transaction.sentAt }])
    })
  })

  test('a missing nonce is closed even when everything in flight waits for it (I5)', async () => {
    const { stub, owner, step } = await setUp()
    stub.nonce = { kind: 'ok', value: 1n }
    for (let index = 0; index < LIMIT; index += 1) await accept(owner)
    await step()
    const gapFiller = await accept(owner, {
      nonce: 0n,
      purpose: 'gap_filler',
      request: { type: 'evm', value: 0n },
    })
    await step()
    expect((await now(gapFiller)).transaction.status).toBe('submitted')
    expect(stub.broadcasted).toHaveLength(LIMIT + 1)
  })

  test('does nothing while another process holds the account (R16)', async () => {
    const { stub, owner, step } = await setUp()
    const transaction = await accept(owner)
    await acquireLease(fixture.context.db, {
      name: `account:${owner.relayer.id}`,
      owner: 'another process',
      ttlMs: 60_000,
    })
    await step()
    expect(stub.broadcasted).toEqual([])
    expect((await now(transaction)).transaction.nonce).toBeUndefined()
  })

  test('stores and broadcasts nothing for an account that another process took over meanwhile (R16)', async () => {
    const { stub, owner, step } = await setUp()
    const transaction = await accept(owner)
    const sign = owner.runtime.chain.sign
    const lease = { name: `account:${owner.relayer.id}`, ttlMs: 60_000 }
    stub.override = {
      sign: async (...content) => {
        await acquireLease(fixture.context.db, { ...lease, owner: fixture.context.owner, ttlMs: 0 })
        await acquireLease(fixture.context.db, { ...lease, owner: 'another process' })
        return sign(...content)
      },
    }
    await step()
    expect(stub.broadcasted).toEqual([])
    expect((await now(transaction)).attempts).toEqual([])
    const { status, nonce } = (await now(transaction)).transaction
    expect({ status, nonce }).toEqual({ status: 'pending', nonce: undefined })
  })

  test('drops the signatures, and makes them again, when the counter changes meanwhile (I2)', async () => {
    const { stub, owner, step } = await setUp()
    const transactions = [await accept(owner), await accept(owner)]
    const sign = owner.runtime.chain.sign
    let signed = 0
    stub.override = {
      sign: async (...content) => {
        signed += 1
        const change = { relayerId: owner.relayer.id, address: owner.relayer.address, nonce: 7n }
        if (signed === 1) await fixture.context.db.transaction().execute((tx) => setNextNonce(tx, change))
        return sign(...content)
      },
    }
    await step()
    expect(signed).toBe(4)
    const stored = await Promise.all(transactions.map(now))
    expect(stored.map(({ transaction: { nonce } }) => nonce)).toEqual([7n, 8n])
    expect(stub.broadcasted).toEqual(stored.map(({ attempts: [attempt] }) => attempt?.signed.hash))
  })

  test('a transaction that is canceled while it is signed for leaves no gap (I5)', async () => {
    const { stub, owner, step } = await setUp()
    const [first, second] = [await accept(owner), await accept(owner)]
    const sign = owner.runtime.chain.sign
    stub.override = {
      sign: async (...content) => {
        const change = { ...first, status: 'canceled' } as const
        await fixture.context.db.transaction().execute((tx) => saveTransactions(tx, [change]))
        return sign(...content)
      },
    }
    await step()
    expect((await now(first)).transaction).toMatchObject({ status: 'canceled', nonce: undefined })
    expect((await now(first)).attempts).toEqual([])
    expect((await now(second)).transaction).toMatchObject({ status: 'submitted', nonce: 0n })
    expect(stub.broadcasted).toHaveLength(1)
  })

  test('a paused account signs nothing new, and a signed transaction goes on', async () => {
    const { stub, owner, step } = await setUp()
    stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
    const signed = await accept(owner)
    await step()
    const waiting = await accept(owner)
    await fixture.context.db
      .transaction()
      .execute((tx) => saveRelayer(tx, { ...owner.relayer, paused: true }))
    fixture.clock.advance(1_000)
    await step()
    const [hash] = await hashesOf(signed)
    expect(stub.broadcasted).toEqual([hash, hash])
    expect((await now(waiting)).attempts).toEqual([])
  })
})

describe('silence (I6)', () => {
  test('about the nonce leaves the transaction without one', async () => {
    const { stub, owner, step } = await setUp()
    stub.nonce = { kind: 'unknown', detail: 'time-out' }
    const transaction = await accept(owner)
    await step()
    expect((await now(transaction)).transaction).toMatchObject({ status: 'pending' })
    expect((await now(transaction)).transaction.nonce).toBeUndefined()
  })

  test('about prices makes the transaction wait, with the reason', async () => {
    const { stub, owner, step } = await setUp()
    stub.override = { prepare: async () => ({ kind: 'unknown', detail: 'no prices' }) }
    const transaction = await accept(owner)
    await step()
    expect((await now(transaction)).transaction).toMatchObject({
      status: 'pending',
      statusReason: 'Waiting: no prices.',
    })
  })

  test.each(['unknown', 'later', 'nonce_used'] as const)(
    'after a broadcast (%s) repeats the same bytes, and never takes another nonce (R2, R3, R26)',
    async (kind) => {
      const { stub, owner, step } = await setUp()
      stub.answerBroadcast = () => ({ kind, detail: 'words' })
      const transaction = await accept(owner)
      for (let round = 0; round < 5; round += 1) {
        await step()
        fixture.clock.advance(120_000)
      }
      const { transaction: stored, attempts } = await now(transaction)
      expect(stored).toMatchObject({ status: 'sent', nonce: 0n })
      expect(attempts).toHaveLength(1)
      expect(new Set(stub.broadcasted).size).toBe(1)
      expect(stub.broadcasted).toHaveLength(5)
      stub.answerBroadcast = () => ({ kind: 'accepted' })
      await step()
      expect((await now(transaction)).transaction.status).toBe('submitted')
    },
  )
})

describe('a crash (I12)', () => {
  test('between storing and broadcasting makes the next step broadcast the stored bytes (R2)', async () => {
    const { stub, owner, step } = await setUp()
    const transaction = await accept(owner)
    stub.override = { broadcast: () => Promise.reject(new Error('kill -9')) }
    await expect(step()).rejects.toThrow('kill -9')
    const hashes = await hashesOf(transaction)
    stub.override = {}
    fixture.clock.advance(1_000)
    await step()
    expect(stub.broadcasted).toEqual(hashes)
    expect((await now(transaction)).transaction).toMatchObject({ status: 'submitted', nonce: 0n })
  })

  test('while signing uses no nonce, and the next step goes on in the same order (R1)', async () => {
    const { stub, owner, step } = await setUp()
    const [first, second] = [await accept(owner), await accept(owner)]
    stub.override = { sign: () => Promise.reject(new Error('kill -9')) }
    await expect(step()).rejects.toThrow('kill -9')
    const { status, nonce } = (await now(first)).transaction
    expect({ status, nonce }).toEqual({ status: 'pending', nonce: undefined })
    stub.override = {}
    const third = await accept(owner)
    await step()
    const nonces = await Promise.all(
      [first, second, third].map(async (one) => (await now(one)).transaction.nonce),
    )
    expect(nonces).toEqual([0n, 1n, 2n])
  })
})

describe('what cannot be sent', () => {
  test('no transaction overtakes one that waits for money, and it is sent when the money arrives (R12)', async () => {
    const { stub, owner, step } = await setUp()
    const refusal = { code: 'insufficient_balance', detail: 'top it up' } as const
    const [poor, behind] = [await accept(owner), await accept(owner)]
    stub.override = { prepare: async () => ({ kind: 'refused', refusal }) }
    await step()
    expect((await now(poor)).transaction).toMatchObject({
      status: 'pending',
      statusReason: 'Waiting for funds: top it up',
    })
    expect(stub.broadcasted).toEqual([])
    stub.override = {}
    await step()
    expect((await now(behind)).attempts).toEqual([])
    fixture.clock.advance(2_000)
    await step()
    expect((await now(poor)).transaction.nonce).toBe(0n)
    expect((await now(behind)).transaction.nonce).toBe(1n)
  })

  test('a transaction that would revert now fails without a nonce, and the next one goes', async () => {
    const { stub, owner, step } = await setUp()
    const [bad, good] = [await accept(owner, { request: requestOf({ value: 666n }) }), await accept(owner)]
    const { prepare } = chainOf(stub)
    stub.override = {
      prepare: async (request, account, gas) =>
        request.value === 666n
          ? { kind: 'refused', refusal: { code: 'execution_reverted', detail: 'It would revert.' } }
          : prepare(request, account, gas),
    }
    await step()
    const { transaction } = await now(bad)
    expect(transaction).toMatchObject({ status: 'failed', statusReason: 'It would revert.', cost: 0n })
    expect(transaction.nonce).toBeUndefined()
    expect((await now(good)).transaction).toMatchObject({ status: 'submitted', nonce: 0n })
  })

  test('a transaction whose valid_until passes before it is signed expires without a nonce', async () => {
    const { stub, owner, step } = await setUp()
    const transaction = await accept(owner, {
      request: { type: 'evm', value: 1n, validUntil: new Date(fixture.clock.now() + 1_000) },
    })
    fixture.clock.advance(5_000)
    await step()
    expect((await now(transaction)).transaction).toMatchObject({ status: 'expired' })
    expect(stub.broadcasted).toEqual([])
  })

  test('a transaction that is refused permanently leaves its nonce to a no-op, and both hashes stay (R11, I4)', async () => {
    const { stub, owner, step } = await setUp()
    const transaction = await accept(owner)
    stub.answerBroadcast = () => ({ kind: 'refused', detail: 'exceeds block gas limit' })
    await step()
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    await step()
    const { transaction: stored, attempts } = await now(transaction)
    expect(stored).toMatchObject({ status: 'submitted', nonce: 0n, purpose: 'abandon' })
    expect(attempts).toMatchObject([
      { kind: 'send', outcome: 'refused', draft: { to: TO } },
      { kind: 'abandon', outcome: 'broadcast', draft: { to: owner.relayer.address } },
    ])
  })

  test('a refused no-op stops no other transaction, and is broadcast again later as the same bytes', async () => {
    const { stub, owner, step } = await setUp()
    const transaction = await accept(owner)
    stub.answerBroadcast = () => ({ kind: 'refused', detail: 'no' })
    for (let round = 0; round < 3; round += 1) {
      await step()
      fixture.clock.advance(30_000)
    }
    expect(await hashesOf(transaction)).toHaveLength(2)
    expect(stub.broadcasted).toHaveLength(3)
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    await step()
    expect((await now(transaction)).transaction).toMatchObject({
      status: 'submitted',
      currentAttempt: 2,
      nonce: 0n,
    })
    expect((await now(transaction)).attempts.map(({ outcome }) => outcome)).toEqual(['refused', 'broadcast'])
  })
})
