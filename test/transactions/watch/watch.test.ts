import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { eventsOf, type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt, include } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** An account with `count` submitted transactions, nonces from 0, and a watcher of its network. Depth is 2. */
async function setUp(count = 1) {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub), policies: { sharedAccount: true } })
  const memory = createWatchMemory()
  const step = () => workAccount(fixture.context, owner.relayer.id)
  const submit = async (amount: number) => {
    const stored = await insert(
      fixture.context,
      ...Array.from({ length: amount }, () => newTransaction(owner)),
    )
    fixture.clock.advance(1_000)
    await step()
    return Promise.all(
      stored.map(async (transaction) => (await reload(fixture.context, transaction)).transaction),
    )
  }
  const transactions = await submit(count)
  const look = (height?: bigint) => {
    if (height !== undefined) stub.head = headAt(height)
    return watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
  }
  const [first] = transactions
  const [hash] = stub.broadcasted
  if (count > 0 && (!first || !hash)) throw new Error('nothing was submitted')
  return { stub, owner, transactions, first: first as Transaction, hash: hash as string, look, step, submit }
}

const statusOf = async (transaction: Transaction) =>
  (await reload(fixture.context, transaction)).transaction.status

describe('the way to the end', () => {
  test('a mined transaction is confirmed at depth and not before, each with its event', async () => {
    const { stub, first, hash, look } = await setUp()
    include(stub, hash)
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    expect((await reload(fixture.context, first)).transaction).toMatchObject({
      status: 'mined',
      block: { number: 100n, hash: '0xblock100' },
      cost: 0n,
    })
    await look(101n)
    expect(await statusOf(first)).toBe('mined')
    await look(102n)
    const { transaction, attempts } = await reload(fixture.context, first)
    expect(transaction).toMatchObject({ status: 'confirmed', confirmedAt: new Date(fixture.clock.now()) })
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['mined'])
    expect(await eventsOf(fixture.context, first)).toEqual([
      'pending',
      'sent',
      'submitted',
      'mined',
      'confirmed',
    ])
  })

  test('a reverted transaction fails at depth only, with the reason', async () => {
    const { stub, first, hash, look } = await setUp()
    include(stub, hash, { success: false })
    stub.nonce = { kind: 'ok', value: 1n }
    stub.override = { revertReasons: { read: async () => 'not enough' } }
    await look(100n)
    expect((await reload(fixture.context, first)).transaction).toMatchObject({
      status: 'mined',
      statusReason: 'Reverted on chain: not enough.',
    })
    await look(102n)
    expect(await statusOf(first)).toBe('failed')
  })

  test('a transaction that is found deep enough is final without waiting for another block', async () => {
    const { stub, first, hash, look } = await setUp()
    include(stub, hash, { blockNumber: 90n })
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    await look()
    expect(await statusOf(first)).toBe('confirmed')
  })

  test('an older attempt that is included is the truth (I4)', async () => {
    const { stub, owner, first, hash, look, step } = await setUp()
    stub.override = {
      feeBump: {
        speedUp: async (attempts) => {
          const [attempt] = attempts
          if (!attempt) throw new Error('no attempt')
          return {
            kind: 'ok',
            value: { draft: { ...attempt.draft, fees: { kind: 'legacy', gasPrice: 500n } }, logs: [] },
          }
        },
      },
    }
    fixture.clock.advance(600_000)
    await step()
    expect((await reload(fixture.context, first)).transaction.currentAttempt).toBe(2)
    include(stub, hash)
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    const { transaction, attempts } = await reload(fixture.context, first)
    expect(transaction).toMatchObject({ status: 'mined', currentAttempt: 1, from: owner.relayer.address })
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['mined', 'superseded'])
  })
})

describe('unknown is never no (I6)', () => {
  test('a head that lags decides nothing (R6)', async () => {
    const { stub, first, hash, look, submit } = await setUp()
    include(stub, hash)
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    stub.blocks.set(100n, '0xother')
    stub.receipts.clear()
    await submit(1)
    await look(99n)
    expect(await statusOf(first)).toBe('mined')
  })

  test('a head that stays lower for a minute is the chain: what it no longer holds goes out again', async () => {
    const { stub, first, hash, look } = await setUp()
    include(stub, hash)
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    stub.blocks.set(100n, '0xother')
    stub.receipts.clear()
    fixture.clock.advance(59_999)
    await look(99n)
    expect(await statusOf(first)).toBe('mined')
    fixture.clock.advance(1)
    await look(99n)
    expect(await statusOf(first)).toBe('submitted')
  })

  test('receipts that cannot be read are asked for again, at the same block (R7)', async () => {
    const { stub, first, hash, look } = await setUp()
    stub.receipts.set(hash, { kind: 'unknown' })
    stub.nonce = { kind: 'ok', value: 1n }
    for (const height of [100n, 101n, 110n, 200n]) await look(height)
    expect(await statusOf(first)).toBe('submitted')
    include(stub, hash, { blockNumber: 200n })
    await look()
    expect(await statusOf(first)).toBe('mined')
  })

  test('a silent head, nonce or block hash leaves everything as it is', async () => {
    const { stub, first, hash, look } = await setUp()
    const silence = { kind: 'unknown', detail: 'time-out' } as const
    include(stub, hash)
    stub.nonce = silence
    await look(100n)
    expect(await statusOf(first)).toBe('submitted')
    stub.nonce = { kind: 'ok', value: 1n }
    await look()
    expect(await statusOf(first)).toBe('mined')
    stub.blocks.clear()
    await look(150n)
    expect(await statusOf(first)).toBe('mined')
    stub.head = silence
    await look()
    stub.blocks.set(100n, '0xblock100')
    await look(151n)
    expect(await statusOf(first)).toBe('confirmed')
  })
})

describe('a reorg (I7, R8)', () => {
  test.each([true, false])(
    'takes the transaction back, and the same bytes go out again (success: %s)',
    async (success) => {
      const { stub, first, hash, look, step } = await setUp()
      include(stub, hash, { success })
      stub.nonce = { kind: 'ok', value: 1n }
      await look(100n)
      stub.receipts.clear()
      stub.blocks.set(100n, '0xother')
      stub.nonce = { kind: 'ok', value: 0n }
      await look(101n)
      expect((await reload(fixture.context, first)).transaction).toMatchObject({
        status: 'submitted',
        nonce: 0n,
      })
      await step()
      expect(stub.broadcasted).toEqual([hash, hash])
      include(stub, hash, { blockNumber: 102n })
      stub.nonce = { kind: 'ok', value: 1n }
      await look(102n)
      await look(104n)
      expect(await statusOf(first)).toBe('confirmed')
      expect((await reload(fixture.context, first)).attempts).toHaveLength(1)
    },
  )

  test('moves the transaction into another block, from which its depth counts', async () => {
    const { stub, first, hash, look } = await setUp()
    include(stub, hash)
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    stub.blocks.set(100n, '0xother')
    include(stub, hash, { blockNumber: 101n })
    await look(102n)
    expect((await reload(fixture.context, first)).transaction).toMatchObject({
      status: 'mined',
      block: { number: 101n },
    })
    await look(103n)
    expect(await statusOf(first)).toBe('confirmed')
  })

  test('leaves the transaction mined while its receipt cannot be read', async () => {
    const { stub, first, hash, look } = await setUp()
    include(stub, hash)
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    stub.blocks.set(100n, '0xother')
    stub.receipts.set(hash, { kind: 'unknown' })
    await look(110n)
    expect(await statusOf(first)).toBe('mined')
  })
})

describe('a nonce that another program used (R4)', () => {
  test('is believed only after the depth, and half a minute, with the same answer', async () => {
    const { stub, first, look } = await setUp()
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    fixture.clock.advance(60_000)
    await look(102n)
    expect(await statusOf(first)).toBe('submitted')
    await look(103n)
    const { transaction } = await reload(fixture.context, first)
    expect(transaction).toMatchObject({ status: 'pending', nonce: undefined, currentAttempt: undefined })
    expect(transaction.statusReason).toContain('did not come from this service')
  })

  test('is not believed after the depth alone: blocks may come faster than a replica follows (R6)', async () => {
    const { stub, first, look } = await setUp()
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    fixture.clock.advance(29_999)
    await look(200n)
    expect(await statusOf(first)).toBe('submitted')
    fixture.clock.advance(1)
    await look()
    expect(await statusOf(first)).toBe('pending')
  })

  test('is forgotten when the receipt turns up after all', async () => {
    const { stub, first, hash, look } = await setUp()
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    await look(102n)
    include(stub, hash, { blockNumber: 100n })
    await look(103n)
    await look()
    expect(await statusOf(first)).toBe('confirmed')
  })
})

describe('a gap (I5)', () => {
  test('is closed with a no-op of our own, once, and only where no transaction has the nonce', async () => {
    const { stub, owner, first, look, step } = await setUp(0)
    expect(first).toBeUndefined()
    stub.nonce = { kind: 'ok', value: 5n }
    const [waiting] = await insert(fixture.context, newTransaction(owner))
    fixture.clock.advance(1_000)
    await step()
    stub.nonce = { kind: 'ok', value: 3n }
    await look(100n)
    await look(101n)
    fixture.clock.advance(1_000)
    await step()
    const rows = await fixture.context.db
      .selectFrom('transactions')
      .select(['nonce', 'purpose', 'status'])
      .where('relayer_id', '=', owner.relayer.id)
      .orderBy('nonce')
      .execute()
    expect(rows).toEqual([
      { nonce: 3n, purpose: 'gap_filler', status: 'submitted' },
      { nonce: 4n, purpose: 'gap_filler', status: 'submitted' },
      { nonce: 5n, purpose: 'request', status: 'submitted' },
    ])
    expect(waiting && (await reload(fixture.context, waiting)).transaction.nonce).toBe(5n)
  })

  test('that is too wide to be one is left to a person', async () => {
    const { stub, owner, look, submit } = await setUp(0)
    stub.nonce = { kind: 'ok', value: 1_000n }
    await submit(1)
    stub.nonce = { kind: 'ok', value: 0n }
    await look(100n)
    const { count } = await fixture.context.db
      .selectFrom('transactions')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .where('relayer_id', '=', owner.relayer.id)
      .executeTakeFirstOrThrow()
    expect(count).toBe(1n)
  })
})

describe('a look at the chain', () => {
  test('asks once for a block in which nothing is left open', async () => {
    const { stub, hash, look } = await setUp()
    include(stub, hash)
    stub.nonce = { kind: 'ok', value: 1n }
    await look(100n)
    const { receiptsAsked } = stub
    await look()
    await look()
    expect(stub.receiptsAsked).toBe(receiptsAsked)
  })

  test('asks for no receipt of an account whose nonce has not passed', async () => {
    const { stub, look } = await setUp()
    await look(100n)
    expect(stub.receiptsAsked).toBe(0)
  })

  test('does not overlook a transaction that is stored, sent and mined meanwhile', async () => {
    const { stub, owner, look, step } = await setUp()
    const [late] = await insert(fixture.context, newTransaction(owner))
    if (!late) throw new Error('nothing was stored')
    fixture.clock.advance(1_000)
    stub.override = {
      head: async () => {
        if (stub.broadcasted.length === 1) await step()
        for (const hash of stub.broadcasted) include(stub, hash)
        stub.nonce = { kind: 'ok', value: 2n }
        return headAt(100n)
      },
    }
    await look()
    await look()
    expect(await statusOf(late)).toBe('mined')
  })
})
