import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { EvmRequest } from '../../../src/chains/evm/content.ts'
import type { EvmAttempt, EvmPrepared } from '../../../src/chains/evm/types.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, LEFT_OUT, SILENT_NETWORK } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** The newest attempt with fees ten times as high. */
async function dearer(attempts: readonly EvmAttempt[]): Promise<Answer<EvmPrepared>> {
  const newest = attempts.at(-1)
  if (!newest) return { kind: 'unknown', detail: 'nothing to raise' }
  const fees = {
    kind: 'legacy',
    gasPrice: 10_000n * BigInt(attempts.filter(({ outcome }) => outcome !== 'refused').length),
  } as const
  return { kind: 'ok', value: { draft: { ...newest.draft, fees }, logs: [] } }
}

async function setUp(...requests: readonly Partial<EvmRequest>[]) {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  stub.override = { feeBump: { speedUp: dearer }, replace: (_request, attempts) => dearer(attempts) }
  const made = requests.map((request) => newTransaction(owner, { request: requestOf(request) }))
  const stored = await insert(fixture.context, ...made)
  fixture.clock.advance(1_000)
  const step = () => workAccount(fixture.context, owner.relayer.id)
  await step()
  return { stub, owner, stored, step }
}

async function kindsOf(transaction: Transaction | undefined): Promise<string[]> {
  if (!transaction) throw new Error('no transaction')
  const { attempts } = await reload(fixture.context, transaction)
  return attempts.map(({ kind, outcome }) => `${kind} ${outcome}`)
}

const MINUTE = 60_000

describe('a fee', () => {
  test.each([
    { speed: 'fastest', patience: 2 * MINUTE },
    { speed: 'fast', patience: 3 * MINUTE },
    { speed: 'average', patience: 5 * MINUTE },
    { speed: 'safeLow', patience: 10 * MINUTE },
  ] as const)('is raised after the wait of $speed, and again after the next', async ({ speed, patience }) => {
    const { stored, step } = await setUp({ speed })
    fixture.clock.advance(patience - 1)
    await step()
    expect(await kindsOf(stored[0])).toEqual(['send broadcast'])
    fixture.clock.advance(1)
    await step()
    await step()
    expect(await kindsOf(stored[0])).toEqual(['send broadcast', 'speed_up broadcast'])
    fixture.clock.advance(patience)
    await step()
    expect(await kindsOf(stored[0])).toHaveLength(3)
  })

  test('of a transaction that every node keeps queued is raised at once, and again only after the wait', async () => {
    const { stub, stored, step } = await setUp({ speed: 'safeLow' })
    stub.answerBroadcast = () => ({ kind: 'accepted', known: true, queuedInPool: true })
    fixture.clock.advance(30_000)
    await step()
    expect(await kindsOf(stored[0])).toEqual(['send broadcast', 'speed_up broadcast'])
    for (let waited = 0; waited < 9 * MINUTE; waited += 30_000) {
      fixture.clock.advance(30_000)
      await step()
    }
    expect(await kindsOf(stored[0])).toHaveLength(2)
    fixture.clock.advance(MINUTE)
    await step()
    expect(await kindsOf(stored[0])).toHaveLength(3)
  })

  test('that the caller named is left alone', async () => {
    const { stored, step } = await setUp({ gasPrice: 5n })
    fixture.clock.advance(60 * MINUTE)
    await step()
    expect(await kindsOf(stored[0])).toEqual(['send broadcast'])
  })

  test('is raised only for the first transaction of the queue', async () => {
    const { stored, step } = await setUp({ speed: 'fast' }, { speed: 'fast' })
    fixture.clock.advance(10 * MINUTE)
    await step()
    expect(await kindsOf(stored[0])).toHaveLength(2)
    expect(await kindsOf(stored[1])).toHaveLength(1)
  })

  test('waits again when the transaction becomes the first, because before it waited for others', async () => {
    const { stub, stored, step } = await setUp({ speed: 'fast' }, { speed: 'fast' })
    const [first, second] = stored
    if (!first || !second) throw new Error('nothing was stored')
    fixture.clock.advance(60 * MINUTE)
    const { transaction } = await reload(fixture.context, first)
    const { db } = fixture.database
    await db.transaction().execute((tx) => saveTransactions(tx, [{ ...transaction, status: 'mined' }]))
    // An event has the time of the database, which the clock of the room has left behind.
    await db
      .updateTable('events')
      .set({ created_at: new Date(fixture.clock.now()) })
      .where('transaction_id', '=', first.id)
      .execute()
    stub.nonce = { kind: 'ok', value: 1n }
    fixture.clock.advance(3 * MINUTE - 1)
    await step()
    expect(await kindsOf(second)).toHaveLength(1)
    fixture.clock.advance(30_000)
    await step()
    expect(await kindsOf(second)).toEqual(['send broadcast', 'speed_up broadcast'])
  })

  test('on a network without a mempool is raised only when the base fee has passed it (R13)', async () => {
    const stub = createStubChain()
    const network = { ...SILENT_NETWORK, mempool: false }
    const owner = await fixture.addAccount({ chain: chainOf(stub), network })
    const [stored] = await insert(
      fixture.context,
      newTransaction(owner, { request: requestOf({ speed: 'fast' }) }),
    )
    let baseFee = 99n
    stub.override = {
      feeBump: { speedUp: dearer },
      comparePrice: async () => ({
        kind: 'ok',
        value: { bid: 100n, market: 300n, baseFee, newest: LEFT_OUT },
      }),
    }
    const step = () => workAccount(fixture.context, owner.relayer.id)
    fixture.clock.advance(1_000)
    await step()
    fixture.clock.advance(10 * MINUTE)
    await step()
    expect(await kindsOf(stored)).toEqual(['send broadcast'])
    expect(stub.broadcasted).toHaveLength(2) // The same bytes again.
    baseFee = 101n
    fixture.clock.advance(MINUTE)
    await step()
    expect(await kindsOf(stored)).toEqual(['send broadcast', 'speed_up broadcast'])
  })

  test.each([
    { name: 'and the market has passed it: raised', market: 101n, kinds: ['send signed', 'speed_up signed'] },
    { name: 'for another reason than its price: left alone', market: 100n, kinds: ['send signed'] },
  ])('that no node ever took, counted from its signature, $name', async ({ market, kinds }) => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.answerBroadcast = () => ({ kind: 'later', detail: 'txpool is full' })
    stub.override = {
      feeBump: { speedUp: dearer },
      comparePrice: async () => ({ kind: 'ok', value: { bid: 100n, market, baseFee: 1n, newest: LEFT_OUT } }),
    }
    const [stored] = await insert(
      fixture.context,
      newTransaction(owner, { request: requestOf({ speed: 'fast' }), nextRunAt: new Date(0) }),
    )
    await workAccount(fixture.context, owner.relayer.id)
    fixture.clock.advance(3 * MINUTE - 1)
    await workAccount(fixture.context, owner.relayer.id)
    expect(await kindsOf(stored)).toEqual(['send signed'])
    fixture.clock.advance(1_000)
    await workAccount(fixture.context, owner.relayer.id)
    expect(await kindsOf(stored)).toEqual(kinds)
  })

  test('that cannot be raised leaves the transaction waiting, with the reason', async () => {
    const { stub, stored, step } = await setUp({ speed: 'fast' })
    stub.override = {
      feeBump: {
        speedUp: async () => ({
          kind: 'refused',
          refusal: { code: 'gas_price_above_cap', detail: 'The cap is 5.' },
        }),
      },
    }
    fixture.clock.advance(10 * MINUTE)
    await step()
    const [transaction] = stored
    if (!transaction) throw new Error('no transaction')
    expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
      status: 'submitted',
      statusReason: 'Waiting for inclusion; the fee is not raised: The cap is 5.',
    })
    // A pool may have lost it: what cannot be raised is offered again as it is, time after time.
    const [hash] = stub.broadcasted
    fixture.clock.advance(30_000)
    await step()
    expect(stub.broadcasted).toEqual([hash, hash, hash])
  })

  test('that a node refuses: the earlier attempt counts, and the transactions behind it are not blocked', async () => {
    const { stub, owner, stored, step } = await setUp({ speed: 'fast' })
    const [first] = stub.broadcasted
    stub.answerBroadcast = (hash) =>
      hash === first ? { kind: 'accepted' } : { kind: 'underpriced', detail: 'not enough' }
    fixture.clock.advance(10 * MINUTE)
    await step()
    // The market stands still, so the next raise gives the very same bytes.
    fixture.clock.advance(30_000)
    await step()
    expect(await kindsOf(stored[0])).toEqual(['send broadcast', 'speed_up refused'])
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    const [next] = await insert(fixture.context, newTransaction(owner))
    fixture.clock.advance(1_000)
    await step()
    expect(await kindsOf(next)).toEqual(['send broadcast'])
  })
})

describe('valid_until', () => {
  const soon = () => ({ validUntil: new Date(fixture.clock.now() + 10_000) })

  test('passes in a pool: a no-op is to take the nonce', async () => {
    const { stored, step } = await setUp(soon())
    fixture.clock.advance(10_000)
    await step()
    const [transaction] = stored
    if (!transaction) throw new Error('no transaction')
    expect(await kindsOf(transaction)).toEqual(['send broadcast', 'expire broadcast'])
    expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
      status: 'submitted',
      purpose: 'expire',
      statusReason: 'valid_until passed; a no-op is to take its nonce.',
    })
  })

  test('passes before a node accepted it: a no-op is broadcast instead of the old bytes', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.override = { replace: (_request, attempts) => dearer(attempts) }
    stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
    const validUntil = new Date(fixture.clock.now() + 5_000)
    const [stored] = await insert(
      fixture.context,
      newTransaction(owner, { request: requestOf({ speed: 'fast', validUntil }) }),
    )
    fixture.clock.advance(1_000)
    await workAccount(fixture.context, owner.relayer.id)
    const [late] = stub.broadcasted.splice(0)
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    fixture.clock.advance(10_000)
    await workAccount(fixture.context, owner.relayer.id)
    expect(await kindsOf(stored)).toEqual(['send signed', 'expire broadcast'])
    expect(stub.broadcasted).not.toContain(late)
  })

  test('the no-op is refused: it is tried again, and the transactions behind it are not blocked', async () => {
    const { stub, owner, stored, step } = await setUp(soon())
    const [first] = stub.broadcasted
    stub.answerBroadcast = (hash) =>
      hash === first ? { kind: 'accepted' } : { kind: 'underpriced', detail: 'not enough' }
    fixture.clock.advance(10_000)
    await step()
    fixture.clock.advance(30_000)
    await step()
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    const [next] = await insert(fixture.context, newTransaction(owner))
    fixture.clock.advance(1_000)
    await step()
    expect(await kindsOf(next)).toEqual(['send broadcast'])
    expect(await kindsOf(stored[0])).toEqual(['send broadcast', 'expire refused'])
  })
})
