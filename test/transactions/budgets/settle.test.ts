import { expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { Effects } from '../../../src/chains/effects.ts'
import type { Spent } from '../../../src/spending/budget.ts'
import type { Holding } from '../../../src/spending/holding.ts'
import { tookOf } from '../../../src/transactions/budgets/settle.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { NETWORK, spentOf, TOKEN } from '../../spending/build.ts'
import { effectsWith } from '../../support/effects-with.ts'
import { itemOf } from '../build.ts'

const EFFECTS = effectsWith({
  amounts: [
    { asset: 'native', value: 60n },
    { asset: TOKEN, value: 7n },
  ],
})

/** A chain whose content moves this, and that tells the fee of the receipt. */
const chainMoving = (effects: Effects) => ({
  effects: () => effects,
  paidFee: ({ result }: Attempt) => result?.feeCharged,
})

function holdingOf(asset: string, most: Spent): Holding {
  return {
    version: 1,
    closed: false,
    transactionId: 'tx',
    subject: 'key:one',
    network: NETWORK,
    asset,
    at: new Date(0),
    most,
    counted: most,
    settled: false,
  }
}

const MINED = { outcome: 'mined', result: { feeCharged: 3n } } as const
const REVERTED = { outcome: 'reverted', result: { feeCharged: 3n } } as const

interface Case {
  readonly attempts: Parameters<typeof itemOf>[0]
  readonly change?: Partial<Transaction>
  /** Of the native currency, of which the most was 90 with fees of 9. */
  readonly took: Spent
  /** Of the token, of which the most was 8. */
  readonly ofToken: bigint
}

const CASES: readonly [string, Case][] = [
  ['never signed', { attempts: [], took: spentOf(0), ofToken: 0n }],
  ['signed, and never included', { attempts: [{ outcome: 'expired' }], took: spentOf(0), ofToken: 0n }],
  [
    'its nonce was used outside the service',
    { attempts: [{ outcome: 'superseded' }], took: spentOf(0), ofToken: 0n },
  ],
  [
    'no attempt is the current one any more',
    {
      attempts: [{ outcome: 'expired' }],
      change: { currentAttempt: undefined },
      took: spentOf(0),
      ofToken: 0n,
    },
  ],
  ['mined', { attempts: [MINED], took: spentOf(60, 3, 1), ofToken: 7n }],
  [
    'mined, and nobody tells the fee',
    { attempts: [{ outcome: 'mined' }], took: spentOf(60, 9, 1), ofToken: 7n },
  ],
  ['reverted', { attempts: [REVERTED], took: spentOf(0, 3, 1), ofToken: 0n }],
  [
    'reverted, and nobody tells the fee',
    { attempts: [{ outcome: 'reverted' }], took: spentOf(0, 9, 1), ofToken: 0n },
  ],
  ...(['cancel', 'expire', 'abandon'] as const).map((kind): [string, Case] => [
    `its ${kind} is included`,
    {
      attempts: [{ outcome: 'superseded' }, { kind, ...MINED }],
      took: spentOf(0, 3, 1),
      ofToken: 0n,
    },
  ]),
  [
    'its cancellation is included with a higher fee',
    {
      attempts: [{}, { kind: 'cancel' }, { kind: 'speed_up', ...MINED }],
      took: spentOf(0, 3, 1),
      ofToken: 0n,
    },
  ],
  [
    'it is included with a higher fee',
    { attempts: [{}, { kind: 'speed_up', ...MINED }], took: spentOf(60, 3, 1), ofToken: 7n },
  ],
  [
    'its replacement is included',
    { attempts: [{}, { kind: 'replace', ...MINED }], took: spentOf(60, 3, 1), ofToken: 7n },
  ],
  [
    'it is included before its replacement: the record has only the content of the replacement',
    {
      attempts: [MINED, { kind: 'replace', outcome: 'superseded' }],
      change: { currentAttempt: 1 },
      took: spentOf(90, 3, 1),
      ofToken: 8n,
    },
  ],
  [
    'it is included after its replacement was refused, so that the record has its content again',
    {
      attempts: [MINED, { kind: 'replace', outcome: 'refused' }],
      change: { currentAttempt: 1 },
      took: spentOf(60, 3, 1),
      ofToken: 7n,
    },
  ],
  [
    'it is included before the content that was to follow',
    { attempts: [MINED], change: { purpose: 'successor' }, took: spentOf(90, 3, 1), ofToken: 8n },
  ],
  [
    'it is included although it was canceled',
    {
      attempts: [MINED, { kind: 'cancel', outcome: 'superseded' }],
      change: { currentAttempt: 1, purpose: 'cancel' },
      took: spentOf(60, 3, 1),
      ofToken: 7n,
    },
  ],
]

test.each(CASES)('what a transaction took: %s', (_what, { attempts, change, took, ofToken }) => {
  const item = itemOf(attempts, change)
  const chain = chainMoving(EFFECTS)
  expect(tookOf(holdingOf('native', spentOf(90, 9, 1)), item, chain)).toEqual(took)
  expect(tookOf(holdingOf(TOKEN, spentOf(8)), item, chain)).toEqual(spentOf(ofToken))
})

test('a transaction took nothing of an asset that its last content does not move', () => {
  const item = itemOf([{}, { kind: 'replace', ...MINED }])
  expect(tookOf(holdingOf('other', spentOf(8)), item, chainMoving(EFFECTS))).toEqual(spentOf(0))
})
