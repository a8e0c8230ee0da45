import { describe, expect, test } from 'vitest'
import type { InclusionProof, Receipt, ReceiptAnswer } from '../../../src/chains/answer.ts'
import type { Chain } from '../../../src/chains/chain.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import type { Relayer } from '../../../src/relayers/relayer.ts'
import type { RelayerRuntime } from '../../../src/transactions/model/runtime.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { inclusionOf, resolveExpired, resolveTransaction } from '../../../src/transactions/watch/resolve.ts'
import { createWatchMemory, type WatchRound } from '../../../src/transactions/watch/watch-round.ts'
import { FROM, TO } from '../../chains/evm/build.ts'
import { createTestClock } from '../../support/clock.ts'
import { itemOf } from '../build.ts'
import { chainOf, createStubChain, type StubChain } from '../stub-chain.ts'

const HASHES = [1, 2, 3].map((number) => `0x${String(number).padStart(64, '0')}`)
const NOW = 1_000_000

interface Situation {
  readonly chain?: StubChain['override']
  readonly head?: Partial<WatchRound['head']>
  /** False when the relayer of the transaction was deleted. */
  readonly isRelayerKnown?: boolean
  /** False when only this service has the key. */
  readonly isShared?: boolean
  readonly passed?: boolean
  readonly decision?: { readonly attempt?: number }
}

/** A round at block 100 with a depth of 2, in which the transaction `tx` belongs to a relayer with the account `FROM`. */
function roundOf({
  chain = {},
  head,
  isRelayerKnown = true,
  isShared = true,
  passed = false,
  decision,
}: Situation = {}) {
  const stub = createStubChain()
  stub.override = chain
  const clock = createTestClock(NOW)
  const relayer = { id: 'relayer', address: FROM, policies: { sharedAccount: isShared } } as Relayer
  const runtime = { sourceAccounts: [{ address: FROM }] } as unknown as RelayerRuntime
  const memory = createWatchMemory()
  const round: WatchRound = {
    context: { clock, runtimeOf: () => runtime } as unknown as WatchRound['context'],
    chain: chainOf(stub) as unknown as Chain,
    head: { number: 100n, hash: '0xhead100', ...head },
    confirmations: 2n,
    relayers: new Map(isRelayerKnown ? [[relayer.id, relayer]] : []),
    memory,
    decisions: new Map(
      decision
        ? [
            [
              'tx',
              {
                transactionId: 'tx',
                included: decision.attempt !== undefined,
                decidedBy: 'ada',
                reason: 'seen',
                ...decision,
              } as never,
            ],
          ]
        : [],
    ),
    passed: new Set(passed ? ['tx'] : []),
    open: false,
  }
  return { round, clock, memory }
}

const receiptOf = (hash: string | undefined, change: Partial<Receipt> = {}): Receipt => ({
  hash: hash ?? '',
  blockNumber: 100n,
  blockHash: '0xblock100',
  success: true,
  ...change,
})

const included = (receipt: Receipt): ReceiptAnswer => ({ kind: 'included', receipt })

const NONE: ReceiptAnswer = { kind: 'none' }

describe('the receipts of a transaction', () => {
  const resolve = (
    situation: Situation,
    change: Partial<Transaction>,
    answers: readonly ReceiptAnswer[],
    attempts: readonly Partial<EvmAttempt>[] = answers.map(() => ({})),
  ) => {
    const { round, memory } = roundOf(situation)
    memory.missingSince.set('tx', { block: 90n, at: 0 })
    const receipts = new Map(answers.map((answer, index) => [HASHES[index] ?? '', answer]))
    return resolveTransaction(round, itemOf(attempts, change), receipts).then((resolution) => ({
      resolution,
      round,
      isMissing: memory.missingSince.has('tx'),
    }))
  }

  test('show the included attempt, and the wait for its receipt is over', async () => {
    const { resolution, round, isMissing } = await resolve({}, {}, [NONE, included(receiptOf(HASHES[1]))])
    expect(resolution?.transaction).toMatchObject({
      status: 'mined',
      currentAttempt: 2,
      block: { number: 100n, hash: '0xblock100' },
    })
    expect([round.open, isMissing]).toEqual([false, false])
  })

  test.each<[string, Partial<Receipt>, Situation['head'], boolean]>([
    ['deep enough', { blockNumber: 98n }, {}, true],
    ['too near', { blockNumber: 99n }, {}, false],
    ['final by the word of the network', { blockNumber: 98n }, { finalNumber: 98n }, true],
    ['not final by the word of the network', { blockNumber: 98n }, { finalNumber: 97n }, false],
    ['of a chain whose receipts tell finality', { blockNumber: 98n, final: false }, {}, false],
  ])(
    'in a block that is %s let the next round look at the same block again, or not',
    async (_name, change, head, open) => {
      const { round } = await resolve(head ? { head } : {}, {}, [included(receiptOf(HASHES[0], change))])
      expect(round.open).toBe(open)
    },
  )

  const MINED = { status: 'mined', currentAttempt: 1, block: { number: 100n, hash: '0xblock100' } } as const

  test.each<[string, Partial<Transaction>, Partial<Receipt>, boolean]>([
    ['that the record shows', MINED, {}, false],
    ['in another block', MINED, { blockHash: '0xother' }, true],
    ['of another attempt', { ...MINED, currentAttempt: 2 }, {}, true],
    ['that is final now', MINED, { final: true }, true],
    ['that is not final yet', MINED, { final: false }, false],
    ['of a transaction that is not mined yet', { ...MINED, status: 'submitted' }, {}, true],
  ])('show an inclusion %s: news or not', async (_name, change, receipt, isNews) => {
    const attempts = [{}, {}]
    const { resolution } = await resolve({}, change, [included(receiptOf(HASHES[0], receipt))], attempts)
    expect(resolution !== undefined).toBe(isNews)
  })

  test.each<[string, Partial<Transaction>, ReceiptAnswer, string | undefined, boolean]>([
    ['absent: it is broadcast again', MINED, NONE, 'submitted', false],
    ['not known: nothing is decided (I6)', MINED, { kind: 'unknown' }, undefined, true],
    ['absent before it was mined', {}, NONE, undefined, false],
    ['not known before it was mined', {}, { kind: 'unknown' }, undefined, true],
  ])('are %s', async (_name, change, answer, status, open) => {
    const { resolution, round } = await resolve({}, change, [answer])
    expect(resolution?.transaction.status).toBe(status)
    expect(round.open).toBe(open)
  })
})

test('one receipt that is not known leaves open what the others say', async () => {
  const { round } = roundOf()
  const receipts = new Map<string, ReceiptAnswer>([
    [HASHES[0] ?? '', NONE],
    [HASHES[1] ?? '', { kind: 'unknown' }],
  ])
  expect(await resolveTransaction(round, itemOf([{}, {}]), receipts)).toBeUndefined()
  expect(round.open).toBe(true)
})

test('a receipt without an answer counts as not known', async () => {
  const { round } = roundOf()
  expect(await resolveTransaction(round, itemOf(), new Map())).toBeUndefined()
  expect(round.open).toBe(true)
})

test('a receipt belongs to an attempt that can be included under its hash', async () => {
  const of = ({ signed }: EvmAttempt) => [signed.hash, `${signed.hash} inner`]
  const { round } = roundOf({ chain: { inclusionHashes: { of } } as StubChain['override'] })
  const hash = `${HASHES[1]} inner`
  const receipts = new Map([[hash, included(receiptOf(hash))]])
  expect((await inclusionOf(round, itemOf([{}, {}, {}]), receipts))?.attempt.number).toBe(2)
})

describe('the reason of a revert', () => {
  const revertedBy = async (receipt: Partial<Receipt>, situation: Situation = {}) => {
    const { round } = roundOf(situation)
    const [hash = ''] = HASHES
    const receipts = new Map([[hash, included(receiptOf(hash, { success: false, ...receipt }))]])
    return (await inclusionOf(round, itemOf(), receipts))?.reason
  }
  /** The node tells who asked, and for which block. */
  const read = async (_draft: unknown, from: string, block: bigint) => `${from} at ${block}`

  test.each<[string, Partial<Receipt>, Situation, string | undefined]>([
    ['is the one of the receipt', { failure: 'paused' }, { chain: { revertReasons: { read } } }, 'paused'],
    ['is read from a node', {}, { chain: { revertReasons: { read } } }, `${FROM} at 100`],
    [
      'is not known to any node',
      {},
      { chain: { revertReasons: { read: async () => undefined } } },
      'unknown reason',
    ],
    ['cannot be read on this chain', {}, { chain: { revertReasons: undefined } }, 'unknown reason'],
    ['is absent after a success', { success: true }, { chain: { revertReasons: { read } } }, undefined],
    [
      'is read without the relayer, too',
      {},
      { chain: { revertReasons: { read } }, isRelayerKnown: false },
      ' at 100',
    ],
  ])('%s', async (_name, receipt, situation, want) => {
    expect(await revertedBy(receipt, situation)).toBe(want)
  })
})

describe('a transaction whose attempts have expired', () => {
  const proofs = {
    absent: { kind: 'absent' },
    second: { kind: 'included', number: 2, receipt: receiptOf(HASHES[1], { final: true }) },
    unprovable: { kind: 'unknown', detail: 'No history.', unprovable: true },
    silent: { kind: 'unknown', detail: 'time-out' },
  } as const satisfies Record<string, InclusionProof>

  const resolve = async (
    proof: InclusionProof,
    {
      change = {},
      attempts = [{ outcome: 'expired', signedAt: new Date(1) }, { signedAt: new Date(2) }],
      ...situation
    }: Situation & { change?: Partial<Transaction>; attempts?: Parameters<typeof itemOf>[0] } = {},
  ) => {
    const asked: unknown[] = []
    const { round } = roundOf({
      ...situation,
      chain: {
        expiry: { hasExpired: async () => true, reSignable: () => true },
        proveInclusion: async (attempts, freshness) => {
          asked.push([attempts.length, freshness])
          return proof
        },
        ...situation.chain,
      },
    })
    const item = itemOf(attempts, change)
    return { resolution: await resolveExpired(round, item), round, asked }
  }

  test.each<[string, InclusionProof, string | undefined, number | undefined, boolean]>([
    ['provably not included: signed again', proofs.absent, 'pending', undefined, false],
    ['included as its second attempt: mined', proofs.second, 'mined', 2, false],
    ['without a proof that any endpoint can give: undecided', proofs.unprovable, 'submitted', 2, false],
    ['without an answer: nothing is decided (I6)', proofs.silent, undefined, undefined, true],
    [
      'included as an attempt that is not stored: nothing is decided',
      { ...proofs.second, number: 9 },
      undefined,
      undefined,
      true,
    ],
  ])('%s', async (_name, proof, status, currentAttempt, open) => {
    const { resolution, round, asked } = await resolve(proof)
    expect([resolution?.transaction.status, resolution?.transaction.currentAttempt]).toEqual([
      status,
      currentAttempt,
    ])
    expect(round.open).toBe(open)
    expect(asked).toEqual([[2, { asOf: 100n, since: new Date(2) }]])
    if (proof.kind === 'unknown' && resolution)
      expect(resolution.transaction.statusReason).toMatch(/^No history\. It stays open/)
  })

  test('is proved back to the oldest attempt without a proof, also one that a node refused', async () => {
    const attempts = [
      { outcome: 'expired', signedAt: new Date(1) },
      { outcome: 'refused', signedAt: new Date(2) },
      { outcome: 'broadcast', signedAt: new Date(3) },
    ] as const
    const { asked } = await resolve(proofs.absent, { attempts })
    expect(asked).toEqual([[3, { asOf: 100n, since: new Date(2) }]])
  })

  const endpoints = (count: number) => () => Array.from({ length: count }, () => ({ healthy: true }) as never)
  const trusted = (count: number) => ({
    trustedChain: { endpoints: endpoints(count), proveInclusion: async () => proofs.absent } as never,
  })

  test.each<[string, StubChain['override'], true | undefined]>([
    ['one endpoint', { endpoints: endpoints(1) }, true],
    ['two endpoints', { endpoints: endpoints(2) }, undefined],
    ['two, of which one is of the operator', { endpoints: endpoints(2), ...trusted(1) }, true],
    ['two of the operator', { endpoints: endpoints(3), ...trusted(2) }, undefined],
  ])(
    'by the word of %s may be charged and approved again for what is signed next',
    async (_name, chain, again) => {
      const { resolution } = await resolve(proofs.absent, { chain, change: { nonce: undefined } })
      expect([resolution?.transaction.status, resolution?.isSuccessor]).toEqual(['pending', again])
    },
  )

  test('is proved back to the time of the chain, where the chain has one', async () => {
    const expiry = { hasExpired: async () => true, reSignable: () => true, preparedAt: () => new Date(7) }
    const { asked } = await resolve(proofs.absent, { chain: { expiry } })
    expect(asked).toEqual([[2, { asOf: 100n, since: new Date(7) }]])
  })

  test.each<[string, Parameters<typeof resolve>[1], string]>([
    ['by a third party: it ends', { change: { sourceAccount: TO } }, 'expired'],
    [
      'by a third party for a relayer that is gone: it is signed again',
      { change: { sourceAccount: TO }, isRelayerKnown: false },
      'pending',
    ],
    ['for a relayer that is gone', { isRelayerKnown: false }, 'pending'],
  ])('ends or is signed again if it was signed %s', async (_name, situation, status) => {
    const { resolution } = await resolve(proofs.absent, situation)
    expect(resolution?.transaction.status).toBe(status)
  })

  test.each<[string, boolean, Transaction['purpose'], string]>([
    ['the service can sign again', true, 'request', 'pending'],
    ['only a third party can sign again', false, 'request', 'expired'],
    ['was never signed, because it waited for an earlier one', false, 'successor', 'pending'],
  ])('ends or is signed again with content that %s', async (_name, reSignable, purpose, status) => {
    const chain = { expiry: { hasExpired: async () => true, reSignable: () => reSignable } }
    const { resolution } = await resolve(proofs.absent, { chain, change: { purpose } })
    expect(resolution?.transaction.status).toBe(status)
  })

  test.each<[string, number | undefined, number | undefined, string]>([
    ['has no valid_until', undefined, undefined, 'pending'],
    ['has a valid_until in the future', NOW + 1, NOW, 'pending'],
    ['has a valid_until that passed by our clock', NOW, undefined, 'expired'],
    ['has a valid_until that passed by the clock of the chain', NOW + 1, NOW + 1, 'expired'],
  ])('ends or is signed again if it %s', async (_name, end, time, status) => {
    const { resolution } = await resolve(proofs.absent, {
      chain: { endsAt: () => (end === undefined ? undefined : new Date(end)) },
      head: time === undefined ? {} : { time: new Date(time) },
    })
    expect(resolution?.transaction.status).toBe(status)
  })

  test.each<[string, InclusionProof, { readonly attempt?: number }, string, string | undefined]>([
    [
      'that an attempt was included',
      proofs.unprovable,
      { attempt: 1 },
      'confirmed',
      'Attempt 1 was included: operator ada',
    ],
    ['that nothing was included', proofs.unprovable, {}, 'pending', 'It was not included: operator ada'],
    ['against the chain, which wins', proofs.second, { attempt: 1 }, 'mined', undefined],
  ])('is decided by an operator: %s', async (_name, proof, decision, status, reason) => {
    const { resolution } = await resolve(proof, { decision })
    expect(resolution?.transaction.status).toBe(status)
    if (reason === undefined) expect(resolution?.transaction.statusReason).toBeUndefined()
    else expect(resolution?.transaction.statusReason).toContain(reason)
  })
})

describe('a nonce that the chain has passed, without a receipt', () => {
  const receipts = new Map<string, ReceiptAnswer>([[HASHES[0] ?? '', NONE]])
  const item = itemOf()

  test('is believed after the depth, the waiting time and a proof, and not before', async () => {
    let proof: InclusionProof = { kind: 'unknown', detail: 'time-out' }
    let asked = 0
    const prove = async () => {
      asked += 1
      return proof
    }
    const { round, clock, memory } = roundOf({ passed: true, chain: { proveInclusion: prove } })
    const at = async (number: bigint) => {
      const now = { ...round, head: { number, hash: `0x${number}` }, open: false }
      const resolution = await resolveTransaction(now, item, receipts)
      return [resolution?.transaction.status, now.open, asked]
    }
    expect(await at(100n)).toEqual([undefined, false, 0])
    expect(memory.missingSince.get('tx')).toEqual({ block: 100n, at: NOW })
    expect(await at(102n)).toEqual([undefined, false, 0])
    expect(await at(103n)).toEqual([undefined, true, 0])
    clock.advance(29_999)
    expect(await at(103n)).toEqual([undefined, true, 0])
    clock.advance(1)
    expect(await at(103n)).toEqual([undefined, true, 1])
    // The proof is expensive, so it waits again.
    expect(memory.missingSince.get('tx')).toEqual({ block: 100n, at: NOW + 30_000 })
    proof = { kind: 'absent' }
    expect(await at(104n)).toEqual([undefined, true, 1])
    clock.advance(30_000)
    expect(await at(104n)).toEqual(['pending', false, 2])
  })

  test('waits for the finality that the network announces', async () => {
    const { round, clock } = roundOf({ passed: true })
    await resolveTransaction(round, item, receipts)
    clock.advance(30_000)
    const at = (finalNumber: bigint) =>
      resolveTransaction({ ...round, head: { number: 200n, hash: '0x200', finalNumber } }, item, receipts)
    expect(await at(99n)).toBeUndefined()
    expect((await at(100n))?.transaction.status).toBe('pending')
  })

  test('of a third party: the transaction ends, because only that party can choose another', async () => {
    const { round, clock } = roundOf({ passed: true })
    const external = itemOf([{}], { sourceAccount: TO })
    await resolveTransaction(round, external, receipts)
    clock.advance(30_000)
    const later = { ...round, head: { number: 103n, hash: '0x103' } }
    expect((await resolveTransaction(later, external, receipts))?.transaction).toMatchObject({
      status: 'failed',
      nextRunAt: new Date(NOW + 30_000),
    })
  })
})
