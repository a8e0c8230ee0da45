import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer, ComparedBlock, PriceComparison } from '../../../src/chains/answer.ts'
import type { EvmAttempt, EvmPrepared } from '../../../src/chains/evm/types.ts'
import { noopReason } from '../../../src/transactions/model/status-reasons.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { raiseOverdue, unblock } from '../../../src/transactions/submit/speed-up.ts'
import { ABANDON_AFTER_MS } from '../../../src/transactions/watch/stuck.ts'
import { attemptOf, draftOf, eip1559, requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, leaseOf, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, LEFT_OUT, SILENT_NETWORK } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** The fee of `fast` is raised after this time, in ms. */
const WAIT_MS = 180_000

interface Situation {
  /** By default a request of the speed `fast` that a node accepted. */
  readonly change?: Partial<Transaction>
  /** By default one attempt. */
  readonly attempts?: readonly Partial<EvmAttempt>[]
  /** False when no node accepted the attempts. By default a node accepted them when they were signed. */
  readonly accepted?: boolean
  /** `valid_until`, in ms after the present moment. */
  readonly endsAfterMs?: number
  readonly mempool?: boolean
  readonly price?: Answer<PriceComparison>
  /** The next nonce of the account on the chain. By default that of the transaction. */
  readonly nonce?: Answer<bigint>
  /** The time since the attempts were signed, in ms. */
  readonly waitedMs?: number
}

let hashes = 0

/** The head of the queue of an account, with nonce 0, signed a while ago. */
async function setUp({
  change = {},
  attempts = [{}],
  accepted = true,
  endsAfterMs,
  mempool = true,
  price,
  nonce,
  waitedMs = WAIT_MS,
}: Situation) {
  const stub = createStubChain()
  if (nonce !== undefined) stub.nonce = nonce
  const network = { ...SILENT_NETWORK, mempool }
  const owner = await fixture.addAccount({ chain: chainOf(stub), network })
  const signedAt = new Date(fixture.clock.now())
  const validUntil = new Date(fixture.clock.now() + waitedMs + (endsAfterMs ?? 0))
  /** The numbers of the attempts that the chain was asked to raise. */
  const raised: number[][] = []
  const dearer = async (list: readonly EvmAttempt[]): Promise<Answer<EvmPrepared>> => {
    raised.push(list.map(({ number }) => number))
    return { kind: 'ok', value: { draft: draftOf(eip1559(9_000n, 90n)), logs: [] } }
  }
  stub.override = {
    feeBump: { speedUp: dearer },
    replace: async () => ({
      kind: 'ok',
      value: { draft: draftOf(eip1559(8_000n, 80n), { value: 0n }), logs: [] },
    }),
    ...(price && { comparePrice: async () => price }),
  }
  const [inserted] = await insert(
    fixture.context,
    newTransaction(owner, {
      request: requestOf({ speed: 'fast', ...(endsAfterMs !== undefined && { validUntil }) }),
      nonce: 0n,
      status: 'submitted',
      statusReason: 'Waiting.',
    }),
  )
  if (!inserted) throw new Error('nothing was stored')
  await fixture.database.db.transaction().execute(async (tx) => {
    await insertAttempts(
      tx,
      attempts.map((attempt, index) => {
        hashes += 1
        const built = attemptOf(eip1559(100n, 10n), { number: index + 1, signedAt, ...attempt })
        const signed = { ...built.signed, hash: `0xraised${hashes}` }
        return { transactionId: inserted.id, attempt: { ...built, signed } }
      }),
    )
    for (const [index, { broadcastAt = signedAt }] of accepted ? attempts.entries() : [])
      await tx
        .updateTable('attempts')
        .set({ broadcast_at: broadcastAt })
        .where('transaction_id', '=', inserted.id)
        .where('number', '=', index + 1)
        .execute()
    await saveTransactions(tx, [{ ...inserted, currentAttempt: attempts.length, ...change }])
  })
  fixture.clock.advance(waitedMs)
  const leased = {
    relayer: owner.relayer,
    runtime: owner.runtime,
    lease: await leaseOf(fixture.context, owner),
  }
  const now = () => reload(fixture.context, inserted)
  const raise = async () => raiseOverdue(fixture.context, leased, [(await now()).transaction])
  const kinds = async () => (await now()).attempts.map(({ kind }) => kind)
  const reason = async () => (await now()).transaction.statusReason
  return { stub, owner, leased, inserted, raised, now, raise, kinds, reason }
}

const priceOf = (
  bid: bigint,
  market: bigint,
  baseFee?: bigint,
  newest: Partial<ComparedBlock> = {},
): Answer<PriceComparison> => ({
  kind: 'ok',
  value: { bid, market, ...(baseFee !== undefined && { baseFee }), newest: { ...LEFT_OUT, ...newest } },
})
const SILENT = { kind: 'unknown', detail: 'time-out' } as const
const UNACCEPTED = {
  attempts: [{ outcome: 'signed' }],
  accepted: false,
  change: { status: 'sent' },
} as const

describe('the fee of the head of a queue', () => {
  test.each<[string, Situation, boolean]>([
    ['that a node accepted is raised after the wait', {}, true],
    ['that a node accepted is not raised before', { waitedMs: WAIT_MS - 1 }, false],
    [
      'whose newest accepted attempt is younger waits',
      { attempts: [{}, { broadcastAt: new Date('2200-01-01') }] },
      false,
    ],
    [
      'that blocks could not include yet, because an earlier nonce is next, stays',
      { nonce: { kind: 'ok', value: 1n } },
      false,
    ],
    ['whose next nonce no node tells stays', { nonce: SILENT }, false],
    ['that no block could have had stays', { price: priceOf(100n, 100n, 1n, { isNew: false }) }, false],
    ['whose price no node can compare stays', { price: SILENT }, false],
    [
      'that only private endpoints have stays at the market',
      { change: { isPrivate: true }, price: priceOf(100n, 100n, 1n) },
      false,
    ],
    [
      'that only private endpoints have is raised below the market',
      { change: { isPrivate: true }, price: priceOf(100n, 101n, 1n) },
      true,
    ],
    [
      'that was made public is raised at the market',
      { change: { isPrivate: true, madePublicAt: new Date(0) }, price: priceOf(100n, 100n, 1n) },
      true,
    ],
    ['whose price the caller named stays', { change: { request: requestOf({ gasPrice: 5n }) } }, false],
    ['that was never signed has no fee', { change: { currentAttempt: undefined }, attempts: [] }, false],
    [
      'that no node accepted is raised below the market',
      { ...UNACCEPTED, price: priceOf(100n, 101n, 1n) },
      true,
    ],
    ['that no node accepted stays at the market', { ...UNACCEPTED, price: priceOf(100n, 100n, 99n) }, false],
    [
      'that no node accepted waits, too',
      { ...UNACCEPTED, price: priceOf(100n, 101n), waitedMs: WAIT_MS - 1 },
      false,
    ],
    ['that no node accepted stays without an answer', { ...UNACCEPTED, price: SILENT }, false],
    [
      'that is sent again is compared with the market',
      { change: { status: 'sent' }, price: priceOf(100n, 100n, 1n) },
      false,
    ],
    [
      'without a mempool stays above the base fee',
      { mempool: false, price: priceOf(100n, 300n, 100n) },
      false,
    ],
    [
      'without a mempool is raised below the base fee',
      { mempool: false, price: priceOf(100n, 50n, 101n) },
      true,
    ],
    ['without a mempool and a base fee stays', { mempool: false, price: priceOf(100n, 300n) }, false],
    [
      'that no node accepted is raised below the base fee where there is no mempool',
      { mempool: false, ...UNACCEPTED, price: priceOf(100n, 50n, 101n) },
      true,
    ],
  ])('%s', async (_name, situation, isRaised) => {
    const { raise, kinds } = await setUp(situation)
    const before = await kinds()
    expect(await raise()).toBe(true)
    expect(await kinds()).toEqual(isRaised ? [...before, 'speed_up'] : before)
  })

  test('is raised from the attempt that counts, although later ones were refused', async () => {
    const { raise, raised } = await setUp({
      attempts: [{}, { kind: 'replace', outcome: 'refused' }],
      change: { currentAttempt: 1 },
    })
    await raise()
    expect(raised).toEqual([[2, 1]])
  })

  test('is not raised where no fee can be', async () => {
    const { stub, raise, kinds, reason } = await setUp({})
    stub.override = { ...stub.override, feeBump: undefined }
    expect(await raise()).toBe(true)
    expect([await kinds(), await reason()]).toEqual([['send'], 'Waiting.'])
  })

  test.each<[string, Answer<EvmPrepared>, string]>([
    [
      'refuses',
      { kind: 'refused', refusal: { code: 'gas_price_above_cap', detail: 'The cap is 5.' } },
      'The cap is 5.',
    ],
    ['does not answer', SILENT, 'time-out'],
  ])('stays with a reason when the chain %s', async (_name, answer, detail) => {
    const { stub, raise, now } = await setUp({})
    stub.override = { ...stub.override, feeBump: { speedUp: async () => answer } }
    await raise()
    const { transaction, attempts } = await now()
    expect(transaction.statusReason).toBe(`Waiting for inclusion; the fee is not raised: ${detail}`)
    expect(attempts).toHaveLength(1)
    await raise()
    expect((await now()).transaction.version).toBe(transaction.version)
  })

  test.each<[string, string | undefined, string]>([
    ['the words of the node', 'not enough', 'not enough'],
    ['its outcome', undefined, 'the outcome was "refused"'],
  ])('gives the same bytes as a refused attempt: the reason has %s', async (_name, error, words) => {
    const { stub, raise, now, reason } = await setUp({})
    stub.answerBroadcast = () => ({ kind: 'underpriced', detail: 'not enough' })
    await raise()
    expect((await now()).attempts).toHaveLength(2)
    await fixture.database.db
      .updateTable('attempts')
      .set({ error: error ?? null })
      .where('transaction_id', '=', (await now()).transaction.id)
      .where('number', '=', 2)
      .execute()
    fixture.clock.advance(WAIT_MS)
    await raise()
    expect((await now()).attempts).toHaveLength(2)
    expect(await reason()).toBe(
      `Attempt 2 was refused by the node (not enough); attempt 1 still counts. Waiting for inclusion; the same bytes were broadcast before: ${words}.`,
    )
  })
})

test('only the head of the queue is raised, and nothing when it is not due', async () => {
  const { owner, leased, now, kinds } = await setUp({})
  const [second] = await insert(
    fixture.context,
    newTransaction(owner, { nonce: 1n, status: 'submitted', request: requestOf({ speed: 'fast' }) }),
  )
  if (!second) throw new Error('nothing was stored')
  expect(await raiseOverdue(fixture.context, leased, [second])).toBe(false)
  expect(await kinds()).toEqual(['send'])
  expect(await raiseOverdue(fixture.context, leased, [second, (await now()).transaction])).toBe(true)
  expect(await kinds()).toEqual(['send', 'speed_up'])
  expect((await reload(fixture.context, second)).attempts).toEqual([])
})

test('where bytes expire, neither a fee is raised nor a no-op put in the place of an overdue one', async () => {
  const { stub, raise, kinds } = await setUp({
    endsAfterMs: -1,
  })
  const expiry = { hasExpired: async () => false, reSignable: () => true }
  stub.override = { ...stub.override, expiry }
  expect(await raise()).toBe(false)
  expect(await kinds()).toEqual(['send'])
})

describe('a no-op', () => {
  const OVERDUE = { endsAfterMs: -1 }
  const BLOCKING = { change: { stuckSince: new Date(0) }, waitedMs: 0 }

  test.each<[string, Situation, string, string]>([
    ['after valid_until', OVERDUE, 'expire', 'valid_until passed; a no-op will use its nonce.'],
    ['after a day at the head of the queue', BLOCKING, 'abandon', noopReason('blocking')],
  ])('%s takes the nonce', async (_name, situation, purpose, statusReason) => {
    const { raise, kinds, now } = await setUp(situation)
    expect(await raise()).toBe(true)
    expect(await kinds()).toEqual(['send', purpose])
    const { transaction, attempts } = await now()
    expect(transaction).toMatchObject({ purpose, statusReason, currentAttempt: 2, status: 'submitted' })
    expect(attempts[1]?.draft).toMatchObject({ value: 0n })
    fixture.clock.advance(1)
    await raise()
    expect(await kinds()).toHaveLength(2)
  })

  test('is put in the place of nothing while the chain stands still, and the reason says so', async () => {
    const price = priceOf(100n, 100n, 1n, { isNew: false, time: new Date(0) })
    const { raise, kinds, reason } = await setUp({ ...BLOCKING, price })
    await raise()
    expect(await kinds()).toEqual(['send'])
    expect(await reason()).toBe(
      'Waiting for inclusion; no new block since block 100 of 1970-01-01T00:00:00.000Z, so its fee is not raised.',
    )
  })

  test('after valid_until is put in the place of a transaction although the chain stands still', async () => {
    const { raise, kinds } = await setUp({ ...OVERDUE, price: priceOf(100n, 100n, 1n, { isNew: false }) })
    await raise()
    expect(await kinds()).toEqual(['send', 'expire'])
  })

  test.each<[string, Situation, boolean]>([
    ['that ends now', { endsAfterMs: 0, waitedMs: 0 }, true],
    ['that ends a moment later', { endsAfterMs: 1, waitedMs: 0 }, false],
    ['that is a no-op already', { endsAfterMs: 0, change: { purpose: 'cancel' }, waitedMs: 0 }, false],
    ['that is blocked for no time', { change: { stuckSince: new Date('2999-01-01') }, waitedMs: 0 }, false],
  ])('is put in the place of a transaction %s, or not', async (_name, situation, isPut) => {
    const { raise, kinds } = await setUp(situation)
    await raise()
    expect(await kinds()).toHaveLength(isPut ? 2 : 1)
  })

  test.each<[string, Situation, string]>([
    ['after valid_until', OVERDUE, 'valid_until passed; it cannot be cancelled now'],
    ['after a day', BLOCKING, 'It blocks the account; a no-op cannot use its nonce now'],
  ])('%s that has no price or is refused leaves the reason', async (_name, situation, obstacle) => {
    const { stub, raise, reason, kinds } = await setUp(situation)
    const answers: Answer<EvmPrepared>[] = [
      { kind: 'refused', refusal: { code: 'gas_price_above_cap', detail: 'The cap is 5.' } },
      SILENT,
    ]
    for (const [index, answer] of answers.entries()) {
      stub.override = { ...stub.override, replace: async () => answer }
      await raise()
      expect(await reason()).toBe(`${obstacle}: ${index === 0 ? 'The cap is 5.' : 'time-out'}`)
    }
    expect(await kinds()).toEqual(['send'])
  })

  test('takes the nonces of all that are overdue, in one step', async () => {
    const { owner, leased, now, kinds } = await setUp({})
    const [overdue] = await insert(
      fixture.context,
      newTransaction(owner, {
        nonce: 1n,
        status: 'submitted',
        request: requestOf({ speed: 'fast', validUntil: new Date(0) }),
      }),
    )
    if (!overdue) throw new Error('nothing was stored')
    await raiseOverdue(fixture.context, leased, [(await now()).transaction, overdue])
    expect(await kinds()).toEqual(['send', 'speed_up'])
    expect((await reload(fixture.context, overdue)).attempts.map(({ kind }) => kind)).toEqual(['expire'])
  })
})

describe('a transaction that every node keeps queued', () => {
  const NAMED = { request: requestOf({ gasPrice: 5n }) }
  const NAMED_REASON =
    'Every node knows it and none includes it, although its nonce is next. The caller set its price, so it is not changed: replace it at a higher price, so that new bytes take its place.'

  test.each<[string, Situation, readonly string[], string | undefined, boolean]>([
    [
      'is raised at once',
      { waitedMs: 0, price: priceOf(100n, 100n, 100n) },
      ['send', 'speed_up'],
      undefined,
      true,
    ],
    [
      'is raised although no price is known',
      { waitedMs: 0, price: SILENT },
      ['send', 'speed_up'],
      undefined,
      true,
    ],
    [
      'is raised where there is no base fee',
      { waitedMs: 0, price: priceOf(100n, 300n) },
      ['send', 'speed_up'],
      undefined,
      true,
    ],
    [
      'waits below the base fee',
      { waitedMs: 0, price: priceOf(100n, 300n, 101n) },
      ['send'],
      'Waiting.',
      false,
    ],
    [
      'waits where no new block came',
      { waitedMs: 0, price: priceOf(100n, 100n, 100n, { isNew: false }) },
      ['send'],
      'Waiting.',
      false,
    ],
    [
      'waits after it was raised',
      { waitedMs: 0, attempts: [{ kind: 'speed_up' }], price: priceOf(100n, 100n) },
      ['speed_up'],
      'Waiting.',
      false,
    ],
    [
      'keeps the price of the caller, and says so',
      { waitedMs: 0, change: NAMED, price: priceOf(100n, 100n) },
      ['send'],
      NAMED_REASON,
      true,
    ],
  ])('%s', async (_name, situation, kindsAfter, statusReason, isLogged) => {
    const { owner, leased, inserted, now, kinds, reason } = await setUp(situation)
    await unblock(fixture.context, leased, await now())
    expect(await kinds()).toEqual(kindsAfter)
    expect(await reason()).toBe(statusReason)
    const lines = fixture.logLines.filter((line) => line.transaction === inserted.id)
    const line = {
      level: 'warn',
      msg: 'transaction queued by every node although its nonce is next',
      relayer: owner.relayer.id,
    }
    expect(lines).toMatchObject(isLogged ? [line] : [])
  })
})

test('a no-op that a day at the head gave is counted from the time of the incident', async () => {
  const { now, raise, kinds } = await setUp({ waitedMs: 0 })
  const stuckSince = new Date(fixture.clock.now())
  const { transaction } = await now()
  await fixture.database.db
    .transaction()
    .execute((tx) =>
      saveTransactions(tx, [{ ...transaction, request: requestOf({ gasPrice: 5n }), stuckSince }]),
    )
  fixture.clock.advance(ABANDON_AFTER_MS - 1)
  await raise()
  expect(await kinds()).toEqual(['send'])
  fixture.clock.advance(1)
  await raise()
  expect(await kinds()).toEqual(['send', 'abandon'])
})
