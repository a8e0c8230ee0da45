import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Receipt } from '../../../src/chains/answer.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import { findHoldings, saveHoldings } from '../../../src/spending/spending-store.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { findAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { inclusionReason } from '../../../src/transactions/watch/inclusion-reason.ts'
import type { Resolution } from '../../../src/transactions/watch/resolution.ts'
import { createWatchMemory, type WatchRound } from '../../../src/transactions/watch/watch-round.ts'
import { withBlockTimes, writeResolutions } from '../../../src/transactions/watch/write-resolutions.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { spentOf } from '../../spending/build.ts'
import { createTestClock } from '../../support/clock.ts'
import { until } from '../../support/until.ts'
import { itemOf } from '../build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('the times of blocks', () => {
  const resolved = (hash: string): Resolution => ({
    transaction: { ...itemOf([{}]).transaction, block: { number: 9n, hash } },
    outcomes: [],
  })

  test('are asked for once for each block, and an inclusion does not wait long for them', async () => {
    const clock = createTestClock()
    const asked: (readonly string[])[] = []
    const time = new Date(9_000)
    const times = Promise.resolve(new Map([['0xa', time]]))
    const roundOf = (answer: Promise<ReadonlyMap<string, Date>>): Pick<WatchRound, 'chain' | 'context'> => ({
      context: { ...({} as WatchRound['context']), clock },
      chain: {
        ...chainOf(createStubChain()),
        blockTimes: (hashes) => {
          asked.push(hashes)
          return answer
        },
      },
    })
    const resolutions = ['0xa', '0xb', '0xa'].map(resolved)
    const blocksOf = (written: readonly Resolution[]) =>
      written.map(({ transaction }) => transaction.block?.time)
    const timed = await withBlockTimes(roundOf(times), resolutions)
    expect(blocksOf(timed)).toEqual([time, undefined, time])
    expect(asked).toEqual([['0xa', '0xb']])
    const waiting = withBlockTimes(roundOf(new Promise(() => undefined)), resolutions)
    await until(
      async () => clock.waiting,
      (waits) => waits === 1,
    )
    clock.advance(1_000)
    expect(blocksOf(await waiting)).toEqual([undefined, undefined, undefined])
    expect(await withBlockTimes(roundOf(times), timed.slice(0, 1))).toEqual(timed.slice(0, 1))
    expect(asked.length).toBe(2)
  })
})

describe('written resolutions', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** Two submitted transactions of one account, and a round whose memory waits for the receipts of both. */
  async function setUp() {
    const chain = chainOf(createStubChain())
    const owner = await fixture.addAccount({ chain })
    const stored = await insert(
      fixture.context,
      ...[1n, 2n].map((value) =>
        newTransaction(owner, { request: requestOf({ value }), nextRunAt: new Date(0) }),
      ),
    )
    await workAccount(fixture.context, owner.relayer.id)
    const [first, second] = await Promise.all(
      stored.map(async (one) => (await reload(fixture.context, one)).transaction),
    )
    if (!first || !second) throw new Error('two were stored')
    const finished: Transaction[] = []
    const round: WatchRound = {
      context: {
        ...fixture.context,
        observer: {
          created() {},
          submitted() {},
          finished: (some) => void finished.push(...some),
          paid() {},
        },
      },
      chain,
      head: { number: 100n, hash: '0xhead100' },
      confirmations: 2n,
      relayers: new Map(),
      memory: createWatchMemory(),
      decisions: new Map(),
      passed: new Set(),
      open: false,
    }
    for (const { id } of [first, second]) round.memory.missingSince.set(id, { block: 90n, at: 0 })
    const counter = async () => {
      const row = await fixture.database.db
        .selectFrom('accounts')
        .select('next_nonce')
        .where('relayer_id', '=', owner.relayer.id)
        .executeTakeFirstOrThrow()
      return row.next_nonce
    }
    const lines = () => fixture.logLines.filter((line) => line.relayer === owner.relayer.id)
    return { owner, first, second, round, finished, counter, lines }
  }

  /** The chain has decided that the transaction ended, and that its nonce was not used. */
  function failed(transaction: Transaction, change: Partial<Resolution> = {}): Resolution {
    const { id, relayerId, sourceAccount: address = '' } = transaction
    return {
      transaction: { ...transaction, status: 'failed', statusReason: 'No block included it.', cost: 0n },
      outcomes: [{ transactionId: id, number: 1, outcome: 'expired' }],
      freed: { relayerId, address },
      ...change,
    }
  }

  const incidentsOf = async ({ id }: Transaction) => {
    const rows = await fixture.database.db
      .selectFrom('events')
      .select('type')
      .where('transaction_id', '=', id)
      .where('type', '<>', 'transaction_update')
      .execute()
    return rows.map(({ type }) => type)
  }

  const outcomesOf = async (transaction: Transaction) => {
    const attempts = (await findAttempts(fixture.database.db, [transaction])).get(transaction.id)
    return attempts?.map(({ outcome }) => outcome)
  }

  test('a resolution is written with its outcome, its incident, and the counter that it frees', async () => {
    const { owner, first, second, round, finished, counter, lines } = await setUp()
    expect(await counter()).toBe(2n)
    const written = await writeResolutions(round, [failed(first, { incident: 'transaction_undecided' })])
    expect(written).toMatchObject([{ id: first.id, status: 'failed', version: first.version + 1 }])
    expect(await outcomesOf(first)).toEqual(['expired'])
    expect(await incidentsOf(first)).toEqual(['transaction_undecided'])
    expect(await counter()).toBeNull()
    expect(finished).toEqual(written)
    expect(lines()).toMatchObject([
      {
        level: 'error',
        msg: 'transaction incident',
        incident: 'transaction_undecided',
        transaction: first.id,
        relayer: owner.relayer.id,
        detail: 'No block included it.',
      },
    ])
    expect([...round.memory.missingSince.keys()]).toEqual([second.id])
    expect(round.open).toBe(false)
  })

  test('a resolution without an incident and without a freed nonce announces nothing and keeps the counter', async () => {
    const { first, round, counter, lines } = await setUp()
    const { freed: _freed, ...resolution } = failed(first)
    await writeResolutions(round, [resolution])
    expect(await incidentsOf(first)).toEqual([])
    expect(lines()).toEqual([])
    expect(await counter()).toBe(2n)
  })

  test.each([
    ['could be executed in addition', { isSuccessor: true }, [true, false]],
    ['takes its place for certain', {}, [false, false]],
  ] as const)('the charge of a version is closed where the next one %s', async (_, change, closed) => {
    const { first, second, round } = await setUp()
    const { db } = fixture.database
    const counter = { subject: 'key:one', network: 'evm:testnet', asset: 'native' }
    const spent = { most: spentOf(60, 5, 1), counted: spentOf(60, 5, 1), settled: false }
    const begun = { ...counter, version: 1, closed: false, at: new Date(), ...spent }
    const changes = [first, second].map(({ id }) => ({ after: { ...begun, transactionId: id } }))
    await db.transaction().execute((tx) => saveHoldings(tx, changes))
    await writeResolutions(round, [{ transaction: first, outcomes: [], ...change }])
    const holdings = await Promise.all([first, second].map(({ id }) => findHoldings(db, [id])))
    expect(holdings.flat().map((holding) => holding.closed)).toEqual(closed)
  })

  test('a resolution that came too late writes nothing, and the round stays open', async () => {
    const { first, second, round, finished, counter, lines } = await setUp()
    await fixture.database.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...first, statusReason: 'Another writer was faster.' }]))
    const late = failed(first, { incident: 'transaction_undecided' })
    const { freed: _freed, ...inTime } = failed(second)
    const written = await writeResolutions(round, [late, inTime])
    expect(written.map(({ id }) => id)).toEqual([second.id])
    expect((await reload(fixture.context, first)).transaction.statusReason).toBe('Another writer was faster.')
    expect([await outcomesOf(first), await outcomesOf(second)]).toEqual([['broadcast'], ['expired']])
    expect(await incidentsOf(first)).toEqual([])
    expect(lines()).toEqual([])
    expect(await counter()).toBe(2n)
    expect(finished.map(({ id }) => id)).toEqual([second.id])
    expect([...round.memory.missingSince.keys()]).toEqual([first.id])
    expect(round.open).toBe(true)
  })

  test('no resolutions write nothing', async () => {
    const { round, finished } = await setUp()
    const db = new Proxy(fixture.context.db, {
      get: () => {
        throw new Error('the database was used')
      },
    })
    expect(await writeResolutions({ ...round, context: { ...round.context, db } }, [])).toEqual([])
    expect(finished).toEqual([])
  })

  test('the incidents of several transactions are announced each with its own type', async () => {
    const { first, second, round } = await setUp()
    await writeResolutions(round, [
      failed(first, { incident: 'transaction_undecided' }),
      failed(second, { incident: 'transaction_stuck' }),
    ])
    expect(await incidentsOf(first)).toEqual(['transaction_undecided'])
    expect(await incidentsOf(second)).toEqual(['transaction_stuck'])
  })
})

interface Case {
  readonly name: string
  readonly attempts: readonly Partial<EvmAttempt>[]
  readonly transaction?: Partial<Transaction>
  /** The number of the included attempt. Default: the last. */
  readonly included?: number
  readonly reason?: string
  readonly result?: Receipt['result']
  readonly want: string | undefined
}

const STORED = 'The reason that is stored'

const CASES: readonly Case[] = [
  { name: 'the request as it was sent', attempts: [{}], want: undefined },
  {
    name: 'a request, whose stored reason is over',
    attempts: [{}],
    transaction: { statusReason: STORED },
    want: undefined,
  },
  {
    name: 'a revert, with the reason of the chain',
    attempts: [{}],
    reason: 'too late',
    want: 'Reverted on chain: too late.',
  },
  {
    name: 'a cancellation, whatever was stored about it meanwhile',
    attempts: [{}, { kind: 'cancel' }],
    transaction: { purpose: 'cancel', statusReason: STORED },
    want: 'Canceled by the caller; a no-op used its nonce.',
  },
  {
    name: 'a speed-up of the cancellation',
    attempts: [{}, { kind: 'cancel' }, { kind: 'speed_up' }],
    transaction: { purpose: 'cancel', statusReason: STORED },
    want: 'Canceled by the caller; a no-op used its nonce.',
  },
  {
    name: 'a speed-up of the request whose replacement was refused, without what happened to it afterwards',
    attempts: [{}, { kind: 'replace', outcome: 'refused' }, { kind: 'speed_up' }],
    transaction: {
      statusReason:
        'Attempt 2 was refused by the node (not today); attempt 1 still counts. The node did not answer; the same bytes are broadcast again: time-out',
    },
    want: 'Attempt 2 was refused by the node (not today); attempt 1 was included.',
  },
  {
    name: 'an expiry no-op that was refused, so that the request is included',
    attempts: [{}, { kind: 'expire', outcome: 'refused' }],
    transaction: { purpose: 'expire', statusReason: STORED },
    included: 1,
    want: undefined,
  },
  {
    name: 'a setup transaction, which is no no-op and keeps its reason',
    attempts: [{}],
    transaction: { purpose: 'setup', statusReason: STORED },
    want: STORED,
  },
  {
    name: 'the request before its replacement',
    attempts: [{}, { kind: 'replace' }],
    included: 1,
    want: 'Attempt 1 was included before its replacement (attempt 2), which has lost.',
  },
  {
    name: 'the request before its replacement, reverted',
    attempts: [{}, { kind: 'replace' }],
    included: 1,
    reason: 'no',
    want: 'Attempt 1 was included before its replacement (attempt 2), which has lost. Reverted on chain: no.',
  },
  {
    name: 'the request before the cancellation',
    attempts: [{}, { kind: 'cancel' }],
    transaction: { purpose: 'cancel', statusReason: STORED },
    included: 1,
    want: 'Attempt 1 was included before its cancellation (attempt 2), which has lost.',
  },
  {
    name: 'the request before the no-op of valid_until',
    attempts: [{}, { kind: 'expire' }],
    transaction: { purpose: 'expire' },
    included: 1,
    want: 'Attempt 1 was included before the no-op of valid_until (attempt 2), which has lost.',
  },
  {
    name: 'the request before its speed-up, which is the same content',
    attempts: [{}, { kind: 'speed_up' }],
    included: 1,
    want: undefined,
  },
  {
    name: 'the request before its replacement, which the node refused',
    attempts: [{}, { kind: 'replace', outcome: 'refused' }],
    included: 1,
    want: undefined,
  },
  {
    name: 'the request before a successor that was never signed',
    attempts: [{}],
    transaction: { purpose: 'successor' },
    want: 'Attempt 1 was included before its replacement, which has lost.',
  },
  {
    name: 'the request before a cancellation that was never signed',
    attempts: [{}],
    transaction: { purpose: 'cancel' },
    want: 'Attempt 1 was included before its cancellation, which has lost.',
  },
  {
    name: 'the bytes of a third party',
    attempts: [{}],
    result: { appliedHash: '0xother' },
    want: 'A third party sent the same signed content to the network: it was included once, as transaction 0xother.',
  },
  {
    name: 'the bytes of a third party, who paid',
    attempts: [{}],
    result: { appliedHash: '0xother', feeAccount: 'GPAYER' },
    reason: 'no',
    want: 'A third party sent the same signed content to the network: it was included once, as transaction 0xother, and GPAYER paid the fee. Reverted on chain: no.',
  },
]

describe('the reason of an inclusion', () => {
  test.each(CASES)('$name', ({ attempts, transaction, included = attempts.length, reason, result, want }) => {
    const item = itemOf(attempts, transaction)
    const attempt = item.attempts[included - 1]
    if (attempt === undefined) throw new Error('there is no such attempt')
    const receipt: Receipt = {
      hash: attempt.signed.hash,
      blockNumber: 1n,
      blockHash: '0xblock',
      success: reason === undefined,
      ...(result && { result }),
    }
    expect(inclusionReason(item, { attempt, receipt, reason })).toBe(want)
  })

  test('the hash of the attempt itself is not one of a third party', () => {
    const item = itemOf([{}])
    const [attempt] = item.attempts
    if (attempt === undefined) throw new Error('there is no attempt')
    const { hash } = attempt.signed
    const receipt: Receipt = {
      hash,
      blockNumber: 1n,
      blockHash: '0xblock',
      success: true,
      result: { appliedHash: hash },
    }
    expect(inclusionReason(item, { attempt, receipt, reason: undefined })).toBeUndefined()
  })
})
