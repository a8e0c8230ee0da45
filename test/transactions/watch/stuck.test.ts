import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BroadcastResult, InclusionProof } from '../../../src/chains/answer.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import {
  ABANDON_AFTER_MS,
  type QueueHeads,
  reportStuck,
  STUCK_AFTER_MS,
} from '../../../src/transactions/watch/stuck.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt, include } from '../stub-chain.ts'

describe('a stuck transaction', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  async function setUp() {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const seen: QueueHeads = new Map()
    const accept = async (change: Partial<Transaction> = {}) => {
      const [stored] = await insert(
        fixture.context,
        newTransaction(owner, { nextRunAt: new Date(0), ...change }),
      )
      if (!stored) throw new Error('nothing was stored')
      return stored
    }
    const step = () => workAccount(fixture.context, owner.relayer.id)
    const look = async (ms: number) => {
      fixture.clock.advance(ms)
      await reportStuck(fixture.context, seen)
    }
    return { stub, owner, accept, step, look }
  }

  async function incidents({ id }: Transaction): Promise<number> {
    const rows = await fixture.database.db
      .selectFrom('events')
      .select('number')
      .where('transaction_id', '=', id)
      .where('type', '=', 'transaction_stuck')
      .execute()
    return rows.length
  }

  const now = async (transaction: Transaction) => (await reload(fixture.context, transaction)).transaction

  describe('a transaction that cannot be signed', () => {
    /** The node knows nothing of transfers of 13 wei. */
    const isUnknown = (request: { value?: bigint }) => request.value === 13n

    async function waiting() {
      const parts = await setUp()
      const prepare = chainOf(createStubChain()).prepare
      parts.stub.override = {
        prepare: async (request, account, gas) =>
          isUnknown(request)
            ? { kind: 'unknown', detail: 'the node cannot simulate it' }
            : prepare(request, account, gas),
      }
      const first = await parts.accept({ request: requestOf({ value: 13n }) })
      const second = await parts.accept()
      await parts.step()
      return { ...parts, first, second }
    }

    test('holds up the others for a quarter of an hour, is announced once, and is overtaken', async () => {
      const { step, look, first, second } = await waiting()
      await look(0)
      await look(STUCK_AFTER_MS - 1)
      await step()
      expect([await incidents(first), (await now(second)).status]).toEqual([0, 'pending'])
      await look(1)
      await step()
      expect(await incidents(first)).toBe(1)
      expect((await now(first)).statusReason).toContain('the node cannot simulate it')
      expect((await now(second)).status).toBe('submitted')
      await look(STUCK_AFTER_MS)
      await step()
      expect([await incidents(first), await incidents(second)]).toEqual([1, 0])
    })

    test('is signed as soon as it can be, and is stuck no longer', async () => {
      const { stub, step, look, first } = await waiting()
      await look(0)
      await look(STUCK_AFTER_MS)
      stub.override = {}
      fixture.clock.advance(5_000)
      await step()
      const { status, stuckSince } = await now(first)
      expect([status, stuckSince]).toEqual(['submitted', undefined])
    })

    test('does not hold up the others by money that is missing, either', async () => {
      const { stub, accept, step, look } = await setUp()
      const dear = await accept({ request: requestOf({ value: 10n ** 21n }) })
      const cheap = await accept()
      await step()
      await look(0)
      await look(STUCK_AFTER_MS)
      await step()
      expect([(await now(dear)).status, (await now(cheap)).status]).toEqual(['pending', 'submitted'])
      stub.balance = { kind: 'ok', value: 10n ** 22n }
      fixture.clock.advance(5_000)
      await step()
      expect((await now(dear)).status).toBe('submitted')
    })
  })

  describe('a transaction that is signed and not mined', () => {
    const PRICED = requestOf({ maxFeePerGas: 100n, maxPriorityFeePerGas: 10n })

    test('is announced when it is the head for too long, and those behind it are not', async () => {
      const { accept, step, look } = await setUp()
      const [first, second] = [await accept({ request: PRICED }), await accept({ request: PRICED })]
      await step()
      await look(0)
      await look(STUCK_AFTER_MS)
      await look(STUCK_AFTER_MS)
      expect([await incidents(first), await incidents(second)]).toEqual([1, 0])
    })

    test('loses its nonce to a no-op after another day, at a price of the service', async () => {
      const { stub, owner, accept, step, look } = await setUp()
      const first = await accept({ request: PRICED })
      await step()
      await look(0)
      await look(STUCK_AFTER_MS)
      fixture.clock.advance(ABANDON_AFTER_MS - 1)
      await step()
      expect((await now(first)).purpose).toBe('request')
      const replaced = chainOf(createStubChain())
      stub.override = {
        replace: async () =>
          replaced.prepare(replaced.noop({ address: owner.relayer.address, policies: {} }), {
            address: owner.relayer.address,
            policies: {},
          }),
      }
      fixture.clock.advance(60_000)
      await step()
      const { purpose, statusReason, nonce } = await now(first)
      expect([purpose, nonce]).toEqual(['abandon', 0n])
      expect(statusReason).toContain('blocked the account for a day')
      expect((await reload(fixture.context, first)).attempts.map(({ kind }) => kind)).toEqual([
        'send',
        'abandon',
      ])
    })

    test('is announced once, however often it is priced again', async () => {
      const { stub, accept, step, look } = await setUp()
      stub.answerBroadcast = () => ({ kind: 'too_cheap', detail: 'below the minimum of the pool' })
      const first = await accept()
      await step()
      await look(0)
      await look(STUCK_AFTER_MS)
      const since = (await now(first)).stuckSince
      for (let times = 0; times < 3; times += 1) {
        fixture.clock.advance(200_000)
        await step()
        await look(30_000)
      }
      expect(await incidents(first)).toBe(1)
      expect((await now(first)).stuckSince).toEqual(since)
    })

    test('that a block includes is stuck no longer', async () => {
      const { stub, owner, accept, step, look } = await setUp()
      const refused: BroadcastResult = { kind: 'later', detail: 'the pool is full' }
      stub.answerBroadcast = () => refused
      const first = await accept()
      await step()
      await look(0)
      await look(STUCK_AFTER_MS)
      expect((await now(first)).stuckSince).toBeInstanceOf(Date)
      include(stub, stub.broadcasted[0] ?? '')
      stub.nonce = { kind: 'ok', value: 1n }
      const target = { runtime: owner.runtime, relayers: [owner.relayer], memory: createWatchMemory() }
      await watchNetwork(fixture.context, target)
      const { status, stuckSince } = await now(first)
      expect([status, stuckSince]).toEqual(['mined', undefined])
    })
  })

  test('a relayer that is switched off holds nothing up', async () => {
    const { owner, accept, look } = await setUp()
    const first = await accept()
    await fixture.database.db
      .updateTable('relayers')
      .set({ paused: true })
      .where('id', '=', owner.relayer.id)
      .execute()
    await look(0)
    await look(STUCK_AFTER_MS)
    expect(await incidents(first)).toBe(0)
  })
})

describe('an expiry', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  test('what a block holds is not proved to be absent in the same look, and that look is enough', async () => {
    const stub = createStubChain()
    const chain = chainOf(stub)
    const owner = await fixture.addAccount({ chain })
    const { sign } = chainOf(createStubChain())
    const everywhere: string[] = []
    stub.override = {
      sequencing: undefined,
      blockFinality: undefined,
      expiry: { hasExpired: async () => true, reSignable: () => true },
      sign: (draft, signingContext) => sign(draft, { ...signingContext, nonce: 0n }),
      proveInclusion: async (attempts) => {
        everywhere.push(...attempts.map(({ signed }) => signed.hash))
        return { kind: 'absent' }
      },
    }
    const [stored] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
    if (!stored) throw new Error('nothing was stored')
    await workAccount(fixture.context, owner.relayer.id)
    const [hash = ''] = stub.broadcasted
    include(stub, hash, { final: false })
    const memory = createWatchMemory()
    stub.head = headAt(101n)
    await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
    expect((await reload(fixture.context, stored)).transaction.status).toBe('mined')
    expect(everywhere).toEqual([])
    expect(memory.settledAt).toBe('0xhead101')
  })
})

describe('a valid_until', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  interface Situation {
    /** `valid_until`, in ms after the signature; absent for none. */
    readonly endsAfterMs?: number
    /** The clock of the service and of the chain, in ms after the signature. */
    readonly nowMs: number
    readonly chainMs?: number
    readonly proof?: InclusionProof
  }

  /** A transaction on a chain where signed bytes expire; they have expired, and the endpoints gave this proof. */
  async function afterExpiry({ endsAfterMs, nowMs, chainMs, proof = { kind: 'absent' } }: Situation) {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const { sign } = chainOf(createStubChain())
    const signedAt = fixture.clock.now()
    const validUntil = endsAfterMs === undefined ? {} : { validUntil: new Date(signedAt + endsAfterMs) }
    stub.override = {
      sequencing: undefined,
      blockFinality: undefined,
      expiry: { hasExpired: async () => true, reSignable: () => true },
      sign: (draft, signingContext) => sign(draft, { ...signingContext, nonce: 0n }),
      proveInclusion: async () => proof,
    }
    const [stored] = await insert(fixture.context, newTransaction(owner, { request: requestOf(validUntil) }))
    if (!stored) throw new Error('nothing was stored')
    await workAccount(fixture.context, owner.relayer.id)
    fixture.clock.advance(nowMs)
    const time = chainMs === undefined ? {} : { time: new Date(signedAt + chainMs) }
    stub.head = { kind: 'ok', value: { number: 101n, hash: '0xhead101', ...time } }
    const memory = createWatchMemory()
    await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
    return { ...(await reload(fixture.context, stored)), memory }
  }

  describe('what has expired', () => {
    test.each([
      { name: 'valid_until has passed', endsAfterMs: 1_000, nowMs: 2_000, want: 'expired' },
      { name: 'valid_until is this moment', endsAfterMs: 1_000, nowMs: 1_000, want: 'expired' },
      { name: 'valid_until is ahead', endsAfterMs: 1_000, nowMs: 999, want: 'pending' },
      { name: 'there is no valid_until', nowMs: 2_000, want: 'pending' },
      {
        name: 'the chain is past valid_until and the clock is not',
        endsAfterMs: 1_000,
        nowMs: 500,
        chainMs: 1_000,
        want: 'expired',
      },
      {
        name: 'the clock is past valid_until and the chain is not',
        endsAfterMs: 1_000,
        nowMs: 1_500,
        chainMs: 500,
        want: 'expired',
      },
      { name: 'both are before valid_until', endsAfterMs: 1_000, nowMs: 500, chainMs: 999, want: 'pending' },
    ])('is $want when $name', async ({ want, ...situation }) => {
      const { transaction, memory } = await afterExpiry(situation)
      expect(transaction.status).toBe(want)
      expect(memory.settledAt).toBe('0xhead101')
    })

    test('stays as it is without a proof, and the next round asks again', async () => {
      const proof = { kind: 'unknown', detail: 'nobody answers' } as const
      const { transaction, memory } = await afterExpiry({ nowMs: 1_000, proof })
      expect(transaction).toMatchObject({ status: 'submitted', undecidedSince: undefined })
      expect(memory.settledAt).toBeUndefined()
    })

    test('is told to the operator when no endpoint can prove it any more', async () => {
      const proof = { kind: 'unknown', detail: 'The history is gone.', unprovable: true } as const
      const { transaction } = await afterExpiry({ nowMs: 1_000, proof })
      expect(transaction.status).toBe('submitted')
      expect(transaction.undecidedSince).toBeInstanceOf(Date)
    })
  })
})
