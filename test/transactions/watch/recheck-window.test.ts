import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { isRecheckDue, recheckFinal } from '../../../src/transactions/watch/recheck-final.ts'
import { createWatchMemory, type WatchRound } from '../../../src/transactions/watch/watch-round.ts'
import { attemptOf, eip1559 } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, include } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const DAY_MS = 86_400_000

let hashes = 0

/** Confirmed transactions in the blocks 1, 2, 3 …, all final since a while, on a chain at block 1,000. */
async function setUp(count: number, { agoMs = 0, change = {} as Partial<Transaction> } = {}) {
  const stub = createStubChain()
  const chain = chainOf(stub)
  const owner = await fixture.addAccount({ chain })
  // One round of the watcher finished them all.
  const confirmedAt = new Date(fixture.clock.now() - agoMs)
  const inserted = await insert(
    fixture.context,
    ...Array.from({ length: count }, (_, index) => newTransaction(owner, { nonce: BigInt(index) })),
  )
  const attempts = inserted.map(({ id }) => {
    hashes += 1
    const attempt = attemptOf(eip1559(10n, 1n), { outcome: 'mined' })
    return {
      transactionId: id,
      attempt: { ...attempt, signed: { ...attempt.signed, hash: `0xrecheck${hashes}` } },
    }
  })
  await fixture.database.db.transaction().execute(async (tx) => {
    await saveTransactions(
      tx,
      inserted
        .map((transaction, index) => ({
          ...transaction,
          status: 'confirmed' as const,
          confirmedAt,
          currentAttempt: 1,
          block: { number: BigInt(index + 1), hash: `0xold${index + 1}` },
          ...change,
        }))
        // The order of the rows must not be that of the blocks.
        .toReversed(),
    )
    await insertAttempts(tx, attempts)
  })
  const asked: bigint[] = []
  stub.override = {
    blockFinality: {
      blockHash: async (number, freshness) => {
        expect(freshness).toEqual({ asOf: 1_000n })
        asked.push(number)
        const hash = stub.blocks.get(number)
        return hash === undefined ? { kind: 'unknown', detail: 'time-out' } : { kind: 'ok', value: hash }
      },
    },
  }
  const round = {
    context: fixture.context,
    chain,
    head: { number: 1_000n, hash: '0xhead1000' },
    confirmations: 2n,
    relayers: new Map([[owner.relayer.id, owner.relayer]]),
    // All were checked when they were in one chain.
    memory: { ...createWatchMemory(), checkedUntil: confirmedAt },
    decisions: new Map(),
    passed: new Set<string>(),
    open: false,
  } as WatchRound
  /** The blocks from `first` on are gone; those below are in the chain. */
  const lose = (first: number) => {
    for (let number = 1; number <= count; number += 1)
      stub.blocks.set(BigInt(number), number < first ? `0xold${number}` : `0xnew${number}`)
  }
  const marked = async () => {
    const items = await Promise.all(inserted.map((one) => reload(fixture.context, one)))
    return items.flatMap(({ transaction }, index) => (transaction.reorganizedAt ? [index + 1] : []))
  }
  const hashOf = (index: number) => attempts[index]?.attempt.signed.hash ?? ''
  const lines = () => fixture.logLines.filter((line) => line.relayer === owner.relayer.id)
  return { stub, chain, owner, inserted, round, asked, lose, marked, hashOf, lines }
}

describe('the search for the blocks that are gone', () => {
  test.each([
    { name: 'the highest', count: 60, first: 60, asks: 51 },
    { name: 'a page below the highest', count: 60, first: 10, asks: 60 },
    { name: 'a block less than a page below the highest', count: 60, first: 11, asks: 51 },
    { name: 'all of them', count: 51, first: 1, asks: 51 },
    { name: 'several pages of them', count: 120, first: 3, asks: 120 },
  ])('finds $name', async ({ count, first, asks }) => {
    const { round, lose, marked, asked } = await setUp(count)
    lose(first)
    await recheckFinal(round)
    expect(await marked()).toEqual(Array.from({ length: count - first + 1 }, (_, index) => first + index))
    expect(asked.toSorted((a, b) => Number(b - a))).toEqual(
      Array.from({ length: asks }, (_, index) => BigInt(count - index)),
    )
  })

  test('asks for one block when that is in the chain', async () => {
    const { round, lose, marked, asked } = await setUp(3)
    lose(4)
    await recheckFinal(round)
    expect([await marked(), asked]).toEqual([[], [3n]])
  })

  test('ends at a block without an answer (I6)', async () => {
    const { stub, round, lose, marked } = await setUp(4)
    lose(1)
    stub.blocks.delete(2n)
    await recheckFinal(round)
    expect(await marked()).toEqual([3, 4])
  })

  test('asks for each block that has become final since the last check, and again for one without an answer', async () => {
    const { stub, round, lose, marked, asked } = await setUp(3)
    round.memory.checkedUntil = undefined
    lose(4)
    stub.blocks.delete(2n)
    await recheckFinal(round)
    expect(asked).toEqual([3n, 2n, 1n])
    stub.blocks.set(2n, '0xnew2')
    await recheckFinal(round)
    expect(asked.slice(3)).toEqual([3n, 2n, 1n])
    expect(await marked()).toEqual([2])
    asked.length = 0
    await recheckFinal(round)
    expect(asked).toEqual([3n])
  })

  test('goes back one day', async () => {
    for (const [agoMs, want] of [
      [DAY_MS, []],
      [DAY_MS - 1, [1]],
    ] as const) {
      const { round, lose, marked } = await setUp(1, { agoMs })
      lose(1)
      await recheckFinal(round)
      expect(await marked()).toEqual(want)
    }
  })

  test('finds nothing where nothing is final, and on a chain whose receipts are final', async () => {
    const { stub, round, lose, marked, asked } = await setUp(1)
    const { round: nothingFinal } = await setUp(0)
    await recheckFinal({ ...round, relayers: nothingFinal.relayers })
    expect(asked).toEqual([])
    lose(1)
    stub.override = { blockFinality: undefined }
    await recheckFinal(round)
    expect(await marked()).toEqual([])
  })
})

describe('a final transaction whose block is gone', () => {
  test('is announced and logged, and its bytes are broadcast again', async () => {
    const { stub, owner, inserted, round, lose, lines } = await setUp(2)
    lose(2)
    await recheckFinal(round)
    const [, second] = inserted
    if (!second) throw new Error('two were stored')
    const { transaction, attempts } = await reload(fixture.context, second)
    const statusReason =
      'Block 2 that included it is no longer in the chain, although it was final; the same bytes are broadcast again.'
    expect(transaction).toMatchObject({
      status: 'confirmed',
      statusReason,
      reorganizedAt: new Date(fixture.clock.now()),
    })
    expect(transaction.block).toBeUndefined()
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['mined'])
    expect(lines()).toMatchObject([
      {
        level: 'error',
        msg: 'transaction incident',
        incident: 'transaction_reorganized',
        transaction: second.id,
        relayer: owner.relayer.id,
        detail: statusReason,
      },
    ])
    expect(stub.broadcasted).toHaveLength(1)
  })

  test('is recorded with the block that includes it now, and announced again', async () => {
    const { stub, inserted, round, lose, hashOf, lines } = await setUp(2)
    lose(1)
    include(stub, hashOf(0), { blockNumber: 900n })
    await recheckFinal(round)
    const [first, second] = inserted
    if (!first || !second) throw new Error('two were stored')
    const statusReason = 'Its first block is no longer in the chain; attempt 1 is in block 900 now.'
    expect((await reload(fixture.context, first)).transaction).toMatchObject({
      status: 'confirmed',
      statusReason,
      currentAttempt: 1,
      block: { number: 900n, hash: '0xblock900' },
      reorganizedAt: undefined,
    })
    expect((await reload(fixture.context, second)).transaction.reorganizedAt).toBeInstanceOf(Date)
    expect(lines().map(({ transaction, detail }) => [transaction, detail])).toContainEqual([
      first.id,
      statusReason,
    ])
    expect(stub.broadcasted).toHaveLength(1)
    await recheckFinal(round)
    expect(stub.broadcasted).toHaveLength(2)
  })

  test('fails when it is reverted in the new block', async () => {
    const { stub, inserted, round, lose, hashOf } = await setUp(1)
    lose(1)
    include(stub, hashOf(0), { blockNumber: 900n, success: false, failure: 'paused' })
    await recheckFinal(round)
    const [first] = inserted
    if (!first) throw new Error('one was stored')
    const { transaction, attempts } = await reload(fixture.context, first)
    expect(transaction).toMatchObject({
      status: 'failed',
      statusReason:
        'Its first block is no longer in the chain; attempt 1 is in block 900 now. It was reverted: paused.',
    })
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['reverted'])
  })

  test('without a current attempt has no bytes to broadcast', async () => {
    const { stub, round, lose, marked } = await setUp(1, { change: { currentAttempt: undefined } })
    lose(1)
    stub.override = {
      ...stub.override,
      broadcast: async () => {
        throw new Error('nothing was to be broadcast')
      },
    }
    await recheckFinal(round)
    expect(await marked()).toEqual([1])
  })
})

test('a check is due each half minute, while something has become final in the last day', async () => {
  const { round } = await setUp(1, { agoMs: DAY_MS - 30_001 })
  const { context, relayers, memory } = round
  const isDue = () => isRecheckDue({ context, relayers, memory })
  expect(await isDue()).toBe(true)
  expect(await isDue()).toBe(false)
  fixture.clock.advance(29_999)
  expect(await isDue()).toBe(false)
  fixture.clock.advance(1)
  expect(await isDue()).toBe(true)
  fixture.clock.advance(30_000)
  expect(await isDue()).toBe(false)
})
