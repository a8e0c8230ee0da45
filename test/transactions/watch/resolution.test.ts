import { describe, expect, test } from 'vitest'
import type { ReceiptAnswer } from '../../../src/chains/answer.ts'
import type { Attempt, AttemptKind, ChargedFee } from '../../../src/chains/attempt.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import {
  afterCause,
  noopIncludedReason,
  noopReason,
  waitingReason,
} from '../../../src/transactions/model/status-reasons.ts'
import type { Purpose, Transaction } from '../../../src/transactions/model/transaction.ts'
import { weigh } from '../../../src/transactions/watch/finalise.ts'
import {
  type Expired,
  expired,
  included,
  nonceUsedElsewhere,
  toFinal,
} from '../../../src/transactions/watch/resolution.ts'
import { reorged } from '../../../src/transactions/watch/resolve.ts'
import { FROM } from '../../chains/evm/build.ts'
import { itemOf } from '../build.ts'

const NOW = new Date('2030-01-01T00:00:00.000Z')

function includedAs(item: ReturnType<typeof itemOf>, number: number, reason?: string) {
  const attempt = item.attempts.find((other) => other.number === number)
  if (!attempt) throw new Error('no such attempt')
  const receipt = {
    hash: attempt.signed.hash,
    blockNumber: 9n,
    blockHash: '0xb',
    success: reason === undefined,
    gasUsed: 21_000n,
  }
  return included(item, { attempt, receipt, reason })
}

const outcomesOf = (outcomes: readonly { number: number; outcome: string }[]) =>
  outcomes.map(({ number, outcome }) => `${number} ${outcome}`)

describe('included', () => {
  test('the record shows what the chain holds, and nothing is reserved any more', () => {
    const { transaction, outcomes } = includedAs(itemOf(), 1)
    expect(transaction).toMatchObject({
      status: 'mined',
      currentAttempt: 1,
      block: { number: 9n, hash: '0xb' },
      cost: 0n,
    })
    expect(transaction.statusReason).toBeUndefined()
    expect(outcomesOf(outcomes)).toEqual(['1 mined'])
  })

  test('an attempt that a node has accepted is mined, with what the chain says about it', () => {
    const item = itemOf([{ broadcastAt: new Date(1) }])
    const [attempt] = item.attempts
    if (!attempt) throw new Error('no attempt')
    const result = { feeCharged: (2n ** 80n) as ChargedFee }
    const receipt = { hash: attempt.signed.hash, blockNumber: 9n, blockHash: '9', success: true, result }
    expect(included(item, { attempt, receipt, reason: undefined }).outcomes).toEqual([
      { transactionId: item.transaction.id, number: 1, outcome: 'mined', result },
    ])
  })

  test('a receipt without the time of its block takes back none that is known of the same block', () => {
    const time = new Date(1_000)
    const block = { number: 9n, hash: '0xb', time }
    const item = itemOf([{}], { status: 'mined', block })
    const [attempt] = item.attempts
    if (!attempt) throw new Error('no attempt')
    const blockOf = (blockHash: string, blockTime?: Date) => {
      const receipt = { hash: attempt.signed.hash, blockNumber: 9n, blockHash, success: true, blockTime }
      return included(item, { attempt, receipt, reason: undefined }).transaction.block
    }
    expect(blockOf('0xb')).toEqual(block)
    expect(blockOf('0xc')).toEqual({ number: 9n, hash: '0xc' })
    expect(blockOf('0xb', new Date(2_000))).toEqual({ ...block, time: new Date(2_000) })
  })

  test('an older attempt wins: the record shows it and says what has lost', () => {
    const item = itemOf([{}, { kind: 'replace' }], { statusReason: undefined })
    const { transaction, outcomes } = includedAs(item, 1)
    expect(transaction.currentAttempt).toBe(1)
    expect(transaction.statusReason).toBe(
      'Attempt 1 was included before its replacement (attempt 2), which has lost.',
    )
    expect(outcomesOf(outcomes)).toEqual(['1 mined', '2 superseded'])
  })

  test('a third party sent the same content: the record says so, and who paid if that is known', () => {
    const item = itemOf()
    const [attempt] = item.attempts
    if (!attempt) throw new Error('no attempt')
    const applied = (result: { appliedHash: string; feeAccount?: string }) =>
      included(item, {
        attempt,
        receipt: { hash: attempt.signed.hash, blockNumber: 9n, blockHash: '9', success: true, result },
        reason: undefined,
      }).transaction.statusReason
    expect(applied({ appliedHash: 'other', feeAccount: 'GSTRANGER' })).toBe(
      'A third party sent the same signed content to the network: it was included once, as transaction other, and GSTRANGER paid the fee.',
    )
    expect(applied({ appliedHash: 'other' })).toMatch(/as transaction other\.$/)
    expect(applied({ appliedHash: attempt.signed.hash, feeAccount: 'GRELAYER' })).toBeUndefined()
  })

  test('a raised fee is no other content: the older one has not beaten anything', () => {
    const { transaction } = includedAs(itemOf([{}, { kind: 'speed_up' }]), 1)
    expect(transaction.statusReason).toBeUndefined()
  })

  test('a refused replacement has not lost, it never ran; its outcome stays', () => {
    const { transaction, outcomes } = includedAs(
      itemOf([{}, { kind: 'replace', outcome: 'refused' }], { currentAttempt: 1 }),
      1,
    )
    expect(transaction.statusReason).toBeUndefined()
    expect(outcomesOf(outcomes)).toEqual(['1 mined'])
  })

  test('content that nodes refused after it was accepted here has lost, and the reason stays', () => {
    const statusReason = 'Attempt 2 was refused by the node (no); attempt 1 still counts.'
    const refused = [{}, { kind: 'replace', outcome: 'refused' }] as const
    const request = { purpose: 'request', statusReason } as Transaction
    const waiting = waitingReason(request, 'no new block')
    expect(waiting).toContain(statusReason)
    const included = (number: number) =>
      includedAs(
        itemOf([...refused, { kind: 'speed_up' }], { currentAttempt: 3, statusReason: waiting }),
        number,
      )
    const past = 'Attempt 2 was refused by the node (no); attempt 1 was included.'
    expect(included(1).transaction.statusReason).toBe(past)
    expect(included(3).transaction.statusReason).toBe(past)
    expect(included(2).transaction.statusReason).toBe(
      'The replacement (attempt 2) was included, although a node had refused it: no reason given.',
    )
  })

  test('a no-op says why it used the nonce, whatever happened to it since', () => {
    const cause = noopReason('priced_out', 'fee too low')
    const purpose = 'abandon' as const
    const reasons = ['The chain has passed this nonce: nonce too low', 'Waiting for funds: it has 1 wei.']
    for (const detail of reasons) {
      const statusReason = afterCause({ purpose, statusReason: cause }, detail)
      const item = itemOf([{ outcome: 'refused' }, { kind: 'abandon' }], { purpose, statusReason })
      const { transaction } = includedAs(item, 2)
      const want = noopIncludedReason('priced_out', 'fee too low')
      expect(transaction.statusReason).toBe(want)
      const lost = reorged({ ...item, transaction }, { now: NOW, costOf: () => 1n }).transaction
      expect(lost.statusReason).toMatch(
        / will use its nonce\. Block 9 that included it is no longer in the chain/,
      )
      expect(includedAs({ ...item, transaction: lost }, 2).transaction.statusReason).toBe(want)
    }
  })

  test('a refused attempt that is included after all is mined: the chain decides (I4)', () => {
    const { transaction, outcomes } = includedAs(itemOf([{ outcome: 'refused' }, {}]), 1)
    expect(transaction.currentAttempt).toBe(1)
    expect(outcomesOf(outcomes)).toEqual(['1 mined', '2 superseded'])
  })

  test('a reverted attempt has the reason', () => {
    const { transaction, outcomes } = includedAs(itemOf(), 1, 'not enough')
    expect(transaction).toMatchObject({ status: 'mined', statusReason: 'Reverted on chain: not enough.' })
    expect(outcomesOf(outcomes)).toEqual(['1 reverted'])
  })
})

test('a reorganisation reopens every attempt, and the same bytes go out immediately (I7)', () => {
  const item = itemOf([{ outcome: 'mined' }, { outcome: 'superseded' }, { outcome: 'refused' }], {
    status: 'mined',
    currentAttempt: 1,
    cost: 0n,
    block: { number: 9n, hash: '0xb' },
  })
  const { transaction, outcomes } = reorged(item, { now: NOW, costOf: () => 21n })
  expect(transaction).toMatchObject({ status: 'submitted', currentAttempt: 1, nonce: 5n, nextRunAt: NOW })
  expect(transaction.block).toBeUndefined()
  expect(transaction.cost).toBe(21n)
  expect(outcomesOf(outcomes)).toEqual(['1 broadcast', '2 broadcast'])
})

interface Ending {
  readonly name: string
  readonly kinds: readonly AttemptKind[]
  readonly shown: number
  readonly purpose: Purpose
  readonly outcome?: Attempt['outcome']
  readonly want: Transaction['status']
}

/** What is included decides how it ends, not what was wanted last. */
const ENDINGS: readonly Ending[] = [
  { name: 'as asked', kinds: ['send'], shown: 1, purpose: 'request', want: 'confirmed' },
  { name: 'the replacement', kinds: ['send', 'replace'], shown: 2, purpose: 'request', want: 'confirmed' },
  { name: 'reverted', kinds: ['send'], shown: 1, purpose: 'request', outcome: 'reverted', want: 'failed' },
  { name: 'the cancellation', kinds: ['send', 'cancel'], shown: 2, purpose: 'cancel', want: 'canceled' },
  {
    name: 'the original beat the cancellation (R9)',
    kinds: ['send', 'cancel'],
    shown: 1,
    purpose: 'cancel',
    want: 'confirmed',
  },
  { name: 'a raised original', kinds: ['send', 'speed_up'], shown: 2, purpose: 'request', want: 'confirmed' },
  {
    name: 'a raised cancellation',
    kinds: ['send', 'cancel', 'speed_up'],
    shown: 3,
    purpose: 'cancel',
    want: 'canceled',
  },
  {
    name: 'a replaced cancellation',
    kinds: ['send', 'cancel', 'replace'],
    shown: 3,
    purpose: 'request',
    want: 'confirmed',
  },
  {
    name: 'the cancellation that was replaced',
    kinds: ['send', 'cancel', 'replace'],
    shown: 2,
    purpose: 'request',
    want: 'canceled',
  },
  { name: 'valid_until', kinds: ['send', 'expire'], shown: 2, purpose: 'expire', want: 'expired' },
  {
    name: 'the no-op of valid_until, after a replacement',
    kinds: ['send', 'expire', 'replace'],
    shown: 2,
    purpose: 'request',
    want: 'expired',
  },
  {
    name: 'the no-op for what no node took',
    kinds: ['send', 'abandon'],
    shown: 2,
    purpose: 'abandon',
    want: 'failed',
  },
  { name: 'a filler of our own', kinds: ['gap_filler'], shown: 1, purpose: 'gap_filler', want: 'confirmed' },
]

describe('finalised', () => {
  test.each(ENDINGS)('$name: $want', ({ kinds, shown, purpose, outcome = 'mined', want }) => {
    const attempts = kinds.map((kind, index) => ({
      kind,
      outcome: index + 1 === shown ? outcome : ('superseded' as const),
    }))
    const item = itemOf(attempts, { status: 'mined', purpose, currentAttempt: shown })
    expect(toFinal(item, NOW).transaction).toMatchObject({ status: want, confirmedAt: NOW })
  })

  test('a raised fee after a cancellation that a node refused: the content is that of the request', () => {
    const item = itemOf(
      [
        { kind: 'send', outcome: 'superseded' },
        { kind: 'cancel', outcome: 'refused' },
        { kind: 'speed_up', outcome: 'mined' },
      ],
      { status: 'mined' },
    )
    expect(toFinal(item, NOW).transaction.status).toBe('confirmed')
  })
})

/** What the service can give a new nonce, because no one else has signed it. */
const RENEWABLE = { now: NOW, reSignable: true }

test('a reorganisation keeps an attempt for another nonce closed', () => {
  const block = { number: 8n, hash: '0xblock' }
  const item = itemOf(
    [
      { nonce: 4n, outcome: 'superseded' },
      { nonce: 5n, outcome: 'mined' },
    ],
    {
      status: 'mined',
      block,
    },
  )
  const { outcomes } = reorged(item, { now: NOW, costOf: () => 21n })
  expect(outcomesOf(outcomes)).toEqual(['2 broadcast'])
})

describe('nonceUsedElsewhere: another program used the nonce', () => {
  test('a request goes back to get a fresh one, and nothing of the old attempts counts', () => {
    const { transaction, outcomes, isSuccessor } = nonceUsedElsewhere(
      itemOf([{}, {}, { outcome: 'refused' }]),
      RENEWABLE,
    )
    // Until every endpoint says so, the chain could include both.
    expect(isSuccessor).toBe(true)
    expect(transaction).toMatchObject({ status: 'pending', cost: 0n, nextRunAt: NOW })
    expect([transaction.nonce, transaction.currentAttempt]).toEqual([undefined, undefined])
    expect(transaction.statusReason).toContain(
      'Nonce 5 was used by a transaction that did not come from this service',
    )
    expect(outcomesOf(outcomes)).toEqual(['1 superseded', '2 superseded'])
  })

  test.each([
    ['cancel', 'canceled'],
    ['expire', 'expired'],
    ['abandon', 'failed'],
    ['gap_filler', 'canceled'],
  ] as const)('a no-op of purpose %s has nothing left to do: %s', (purpose, status) => {
    const { transaction, isSuccessor } = nonceUsedElsewhere(itemOf([{}], { purpose }), RENEWABLE)
    expect(transaction).toMatchObject({ status, cost: 0n, nonce: 5n })
    expect(isSuccessor).toBeUndefined()
  })

  test('what only its signer could give another nonce has failed, and its own stays', () => {
    const { transaction, outcomes } = nonceUsedElsewhere(itemOf([{}]), { now: NOW, reSignable: false })
    expect(transaction).toMatchObject({ status: 'failed', cost: 0n, nonce: 5n, sourceAccount: FROM })
    expect(outcomesOf(outcomes)).toEqual(['1 superseded'])
  })
})

describe('content that waited until the earlier version can no longer be included', () => {
  const NEXT = { address: '0xsigner', nonce: 77n }
  const TAKEN = { status: 'pending', sourceAccount: NEXT.address, nonce: NEXT.nonce }
  const WAITED = { purpose: 'successor', cost: 9n } as const

  test('gets the nonce that a third party signed, and the counter of our account is reset', () => {
    const { transaction, outcomes, freed } = expired(itemOf([{}], WAITED), {
      now: NOW,
      over: false,
      reSignable: true,
      ownsNonce: true,
      nextNonce: NEXT,
    })
    expect(transaction).toMatchObject({ ...TAKEN, cost: 9n, purpose: 'successor' })
    expect(transaction.currentAttempt).toBeUndefined()
    expect(outcomesOf(outcomes)).toEqual(['1 expired'])
    expect(freed).toEqual({ relayerId: 'relayer', address: FROM })
  })

  test('gets a nonce of ours later when it brings none, and frees none of a third party', () => {
    const { transaction, freed } = expired(itemOf([{}], WAITED), {
      now: NOW,
      over: false,
      reSignable: true,
      ownsNonce: false,
    })
    expect(transaction).toMatchObject({ status: 'pending', sourceAccount: undefined, nonce: undefined })
    expect(freed).toBeUndefined()
  })

  test('follows as well when the earlier nonce was used elsewhere', () => {
    const { transaction, outcomes } = nonceUsedElsewhere(itemOf([{}], WAITED), {
      now: NOW,
      reSignable: true,
      nextNonce: NEXT,
    })
    expect(transaction).toMatchObject(TAKEN)
    expect(outcomesOf(outcomes)).toEqual(['1 superseded'])
  })
})

describe('expired: the chain has passed the expiry of every attempt, and includes none', () => {
  const WANTED = { now: NOW, over: false, reSignable: true, ownsNonce: true }
  const FREED = { relayerId: 'relayer', address: FROM }

  test('a request is signed again, with the same nonce and its reservation', () => {
    const item = itemOf([{ outcome: 'expired' }, { outcome: 'refused' }, {}], { cost: 7n })
    const { transaction, outcomes, freed } = expired(item, WANTED)
    expect(transaction).toMatchObject({
      status: 'pending',
      sourceAccount: FROM,
      nonce: 5n,
      cost: 7n,
      nextRunAt: NOW,
    })
    expect(transaction.currentAttempt).toBeUndefined()
    expect(transaction.statusReason).toContain('signed again')
    expect(outcomesOf(outcomes)).toEqual(['3 expired'])
    expect(freed).toBeUndefined()
  })

  test('what nodes refused all its time in unknown words gives way to the others, and an event tells it', () => {
    const { transaction, freed, incident } = expired(
      itemOf([{ refusals: 6, error: 'the stars are not right' }], { cost: 7n }),
      WANTED,
    )
    expect(transaction).toMatchObject({
      status: 'pending',
      nonce: undefined,
      cost: 7n,
      stuckSince: NOW,
      statusReason:
        'The nodes refused it until it expired (the stars are not right); it is signed again, and others overtake it.',
    })
    expect([incident, freed]).toEqual(['transaction_stuck', FREED])
    // Once is enough.
    const again = expired(itemOf([{ refusals: 9, error: 'x' }], { stuckSince: new Date(1) }), WANTED)
    expect(again.transaction.stuckSince).toEqual(new Date(1))
    expect(again.incident).toBeUndefined()
  })

  test.each<[string, Partial<Transaction>, Partial<EvmAttempt>, Partial<Expired>, true | undefined]>([
    ['with the same nonce', {}, {}, {}, undefined],
    ['with another nonce, because others overtake it', {}, { refusals: 6, error: 'no' }, {}, true],
    ['on a chain without nonces', { nonce: undefined, sourceAccount: undefined }, {}, {}, true],
    ['as content that waited for the earlier one', { purpose: 'successor' }, {}, {}, true],
    ['not at all, because it is over', { nonce: undefined }, {}, { over: true }, undefined],
    ['not at all, because it is a no-op', { nonce: undefined, purpose: 'cancel' }, {}, {}, undefined],
  ])('a transaction is signed again %s', (_name, change, attempt, terms, isSuccessor) => {
    expect(expired(itemOf([attempt], change), { ...WANTED, ...terms }).isSuccessor).toBe(isSuccessor)
  })

  const refusedLife = { refusals: 6, error: 'no', outcome: 'expired' } as const
  const lives = (count: number) => [
    ...Array.from({ length: count - 1 }, () => refusedLife),
    { refusals: 6, error: 'the stars are not right' },
  ]

  test.each([
    ['three versions', lives(3), {}, 'failed'],
    ['two versions', lives(2), {}, 'pending'],
    [
      'three versions, one of which a node took',
      [{ ...refusedLife, broadcastAt: new Date(1) }, ...lives(2)],
      {},
      'pending',
    ],
    [
      'three versions, one of which waited for funds',
      [{ ...refusedLife, refusals: 0 }, ...lives(2)],
      {},
      'pending',
    ],
    [
      'a version before its replacement',
      [refusedLife, { ...refusedLife, kind: 'replace' }, ...lives(1)],
      {},
      'pending',
    ],
    ['three versions of a replacement', [{ ...refusedLife, kind: 'replace' }, ...lives(2)], {}, 'failed'],
    ['three versions while an endpoint is silent', lives(3), { unanswered: true }, 'pending'],
    ['six versions while an endpoint is silent', lives(6), { unanswered: true }, 'failed'],
  ] as const)(
    'a transaction that nodes refused for %s ends, or is signed again',
    (_name, attempts, terms, status) => {
      const { transaction, incident, freed } = expired(itemOf([...attempts], { stuckSince: new Date(1) }), {
        ...WANTED,
        ...terms,
      })
      expect(transaction.status).toBe(status)
      expect(incident).toBeUndefined()
      if (status !== 'failed') return
      expect(transaction).toMatchObject({
        cost: 0n,
        nonce: undefined,
        statusReason:
          'The nodes refused every version of it until it expired (the stars are not right), and the chain proved that none was included.',
      })
      expect(freed).toEqual(FREED)
    },
  )

  test.each([
    ['refused a few times', { refusals: 5, error: 'x' }, {}],
    ['taken by a node before', { refusals: 9, error: 'x', broadcastAt: new Date(1) }, {}],
    ['followed by other content', { refusals: 9, error: 'x' }, { purpose: 'successor' }],
  ] as const)('a transaction that was %s does not count as stuck', (_name, attempt, change) => {
    const { transaction, incident } = expired(itemOf([attempt], change), WANTED)
    expect([transaction.stuckSince, incident]).toEqual([undefined, undefined])
  })

  test('a setup transaction of the service is signed again, too', () => {
    expect(expired(itemOf([{}], { purpose: 'setup' }), WANTED).transaction).toMatchObject({
      status: 'pending',
      nonce: 5n,
    })
  })

  test('a transaction that is over ends, and its nonce is free', () => {
    const { transaction, outcomes, freed } = expired(itemOf([{}]), { ...WANTED, over: true })
    expect(transaction).toMatchObject({ status: 'expired', cost: 0n })
    expect([transaction.sourceAccount, transaction.nonce]).toEqual([undefined, undefined])
    expect(outcomesOf(outcomes)).toEqual(['1 expired'])
    expect(freed).toEqual(FREED)
  })

  test('what only its signer could sign again ends too, and no counter of ours follows', () => {
    const { transaction, freed } = expired(itemOf([{}]), { ...WANTED, reSignable: false, ownsNonce: false })
    expect(transaction.status).toBe('expired')
    expect(freed).toBeUndefined()
  })

  test.each([
    ['cancel', 'canceled'],
    ['expire', 'expired'],
    ['abandon', 'failed'],
  ] as const)('a no-op of purpose %s has nothing left to do: %s', (purpose, status) => {
    const { transaction, freed } = expired(itemOf([{}], { purpose }), WANTED)
    expect(transaction).toMatchObject({ status, cost: 0n, nonce: undefined })
    expect(freed).toEqual(FREED)
  })
})

const CLAIM = { transactionId: 'tx', hash: '0xa', blockHash: '0xblock', success: true, givesBack: false }

const says = (success: boolean, blockHash = '0xblock'): ReceiptAnswer => ({
  kind: 'included',
  receipt: { hash: '0xa', blockNumber: 100n, blockHash, success },
})

const YES = says(true)
const NO = says(false)
const NONE: ReceiptAnswer = { kind: 'none' }
const UNKNOWN: ReceiptAnswer = { kind: 'unknown' }

describe('the endpoints about a receipt that says "succeeded"', () => {
  test.each<[string, readonly ReceiptAnswer[], string]>([
    ['all say the same', [YES, YES], 'agreed'],
    ['the others are silent', [YES, UNKNOWN], 'agreed'],
    ['the others have pruned it', [NONE, YES], 'agreed'],
    ['all have pruned it', [NONE, NONE], 'agreed'],
    ['most say the same', [YES, NO, YES], 'agreed'],
    ['one of two says the opposite', [YES, NO], 'tied'],
    ['two of four say the opposite', [YES, NO, NO, YES], 'tied'],
    ['most say the opposite', [NO, YES, NO], 'contradicted'],
    ['all say the opposite', [NO, NO], 'contradicted'],
    ['the opposite is about another block', [YES, says(false, '0xother')], 'agreed'],
    ['nobody answers', [UNKNOWN, UNKNOWN], 'unheard'],
  ])('%s', (_, answers, kind) => {
    expect(weigh(CLAIM, answers).kind).toBe(kind)
  })

  test('a contradiction brings the receipt of the others', () => {
    expect(weigh(CLAIM, [NO, NO])).toEqual({
      kind: 'contradicted',
      receipt: { hash: '0xa', blockNumber: 100n, blockHash: '0xblock', success: false },
    })
  })
})

describe('the endpoints about a receipt that gives something back', () => {
  const claim = { ...CLAIM, success: false, givesBack: true }
  test.each<[string, readonly ReceiptAnswer[], string]>([
    ['all say the same', [NO, NO], 'agreed'],
    ['one of two is silent', [NO, UNKNOWN], 'unheard'],
    ['one of two has no receipt', [NO, NONE], 'unheard'],
    ['one of two has it in another block', [NO, says(false, '0xother')], 'unheard'],
    ['one of three is silent', [NO, UNKNOWN, NO], 'unheard'],
    ['one of two says the opposite', [NO, YES], 'tied'],
    ['one of three says the opposite', [NO, YES, NO], 'tied'],
    ['most say the opposite', [YES, NO, YES], 'contradicted'],
    ['the only one that answers says the opposite', [UNKNOWN, YES], 'contradicted'],
    ['nobody answers', [UNKNOWN, UNKNOWN], 'unheard'],
  ])('%s', (_, answers, kind) => {
    expect(weigh(claim, answers).kind).toBe(kind)
  })
})
