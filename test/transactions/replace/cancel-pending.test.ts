import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Purpose } from '../../../src/transactions/model/transaction.ts'
import { createPendingCanceler } from '../../../src/transactions/replace/cancel-pending.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { ACTOR, CANCELS } from '../../support/actor.ts'
import { eventsOf, type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

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
  const cancelPending = createPendingCanceler(fixture.context, {
    cancelTransaction: (relayer, id) => {
      before(id)
      return replacer.cancelTransaction(relayer, id, CANCELS)
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
    const cancelPending = createPendingCanceler(fixture.context, {
      cancelTransaction: async (_relayer, id) => {
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
