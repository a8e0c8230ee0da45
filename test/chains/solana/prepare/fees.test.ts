import { describe, expect, test } from 'vitest'
import { SYSTEM_PROGRAM } from '../../../../simulators/solana/runtime/programs.ts'
import {
  createAccount,
  type Step,
  transfer,
  u32,
  u64,
  unitLimit,
  unitPrice,
} from '../../../../simulators/solana/wallet.ts'
import { createLoadedBytes } from '../../../../src/chains/solana/prepare/context.ts'
import {
  chooseBid,
  feeCap,
  feeOf,
  priceFor,
  readBudget,
  unitLimitFor,
  writeBudget,
} from '../../../../src/chains/solana/prepare/fees.ts'
import { amountOutOf, composeMessage } from '../../../../src/chains/solana/request-content.ts'
import { COMPUTE_BUDGET_PROGRAM, PRECOMPILES } from '../../../../src/chains/solana/wire/addresses.ts'
import { instructionOf, instructionsOf, OTHER, requestOf, SELF, someAddress } from '../build.ts'

const messageOf = (...steps: readonly Step[]) => composeMessage(SELF, steps.map(instructionOf))
const STEP = transfer(SELF, OTHER, 1n)

describe('the fee', () => {
  const other: Step = { program: someAddress(8), accounts: [], data: new Uint8Array() }
  const precompile = (data: readonly number[]): Step => ({
    program: PRECOMPILES[0] as Step['program'],
    accounts: [],
    data: Uint8Array.from(data),
  })

  test.each<[string, Step[], bigint]>([
    ['is that of the signature', [STEP], 5_000n],
    ['counts the signatures that an instruction brings', [STEP, precompile([3, 0])], 20_000n],
    ['counts none where an instruction brings nothing', [STEP, precompile([])], 5_000n],
    ['rounds the price of the units up', [STEP, unitLimit(1), unitPrice(1n)], 5_001n],
    ['is the limit times the price', [STEP, unitLimit(300_000), unitPrice(2_000_000n)], 605_000n],
    [
      'takes 3000 units for each instruction of a builtin without a limit',
      [STEP, unitPrice(1_000_000n)],
      11_000n,
    ],
    ['takes 200000 units for each other one', [STEP, other, unitPrice(1_000_000n)], 211_000n],
    [
      'takes no more units than there are',
      [...Array<Step>(9).fill(other), unitPrice(1_000_000n)],
      1_405_000n,
    ],
    [
      'takes no more than that of a limit either',
      [STEP, unitLimit(2 ** 32 - 1), unitPrice(1_000_000n)],
      1_405_000n,
    ],
  ])('%s', (_what, steps, fee) => {
    expect(feeOf(messageOf(...steps))).toBe(fee)
  })

  test('is limited in any case', () => {
    expect([feeCap({}), feeCap({ maxFee: 7n })]).toEqual([1_000_000n, 7n])
  })
})

describe('a budget', () => {
  test('is read as it was written', () => {
    const budget = { unitLimit: 1_399_999, unitPrice: 2n ** 64n - 1n, loadedBytes: 2 ** 26 - 1 }
    const steps = writeBudget(budget).map((data) => ({
      program: COMPUTE_BUDGET_PROGRAM as Step['program'],
      accounts: [],
      data,
    }))
    expect(readBudget(messageOf(...steps))).toEqual(budget)
  })

  test('that is cut off says nothing', () => {
    const cut = [2, 3, 4].map((kind) => ({
      program: COMPUTE_BUDGET_PROGRAM as Step['program'],
      accounts: [],
      data: Uint8Array.of(kind, 1, 1),
    }))
    expect(readBudget(messageOf(...cut))).toEqual({})
  })

  test.each([
    [0n, 300],
    [150n, 450],
    [100_000n, 110_000],
    [1_399_999n, 1_400_000],
  ])('leaves a margin above %s units: %s', (used, limit) => {
    expect(unitLimitFor(used)).toBe(limit)
  })

  test('is another one each time, near the most that there is', () => {
    const next = createLoadedBytes()
    const seen = Array.from({ length: 1_000 }, next)
    expect(new Set(seen).size).toBe(1_000)
    expect(Math.max(...seen)).toBeLessThanOrEqual(64 * 1024 * 1024)
    expect(Math.min(...seen)).toBeGreaterThan(59 * 1024 * 1024)
  })
})

describe('a bid', () => {
  const message = messageOf(STEP)
  test.each([
    [
      'the market',
      { wanted: 10n, unitLimit: 1_000, cap: 10_000n },
      { kind: 'bid', unitPrice: 10n, wanted: 10n },
    ],
    [
      'what the cap leaves',
      { wanted: 10n ** 12n, unitLimit: 1_000, cap: 6_000n },
      { kind: 'bid', unitPrice: 1_000_000n },
    ],
    [
      'nothing where the cap is the signature',
      { wanted: 5n, unitLimit: 1_000, cap: 5_000n },
      { unitPrice: 0n },
    ],
    [
      'none where the cap is less',
      { wanted: 5n, unitLimit: 1_000, cap: 4_999n },
      { kind: 'short', needed: 5_000n },
    ],
  ])('is %s', (_what, wish, bid) => {
    expect(chooseBid(message, wish)).toMatchObject(bid)
  })

  test('follows the percentile of the speed, and its multiplier', () => {
    const fees = Array.from({ length: 100 }, (_, index) => BigInt(99 - index))
    const prices = (['safeLow', 'average', 'fast', 'fastest'] as const).map((speed) => priceFor(fees, speed))
    expect(prices).toEqual([30n, 62n, 127n, 198n])
    expect(priceFor([], 'fastest')).toBe(0n)
  })
})

describe('what a request moves openly', () => {
  const withSeed: Step = {
    ...createAccount(SELF, OTHER, { lamports: 0n, space: 0, owner: OTHER }),
    data: Buffer.concat([
      u32(3),
      Buffer.alloc(32),
      u64(3n),
      Buffer.from('abc'),
      u64(77n),
      u64(0n),
      Buffer.alloc(32),
    ]),
  }

  test.each<[string, Step[], bigint]>([
    ['a transfer', [transfer(SELF, OTHER, 5n)], 5n],
    ['several', [transfer(SELF, OTHER, 5n), transfer(SELF, someAddress(3), 6n)], 11n],
    ['a new account', [createAccount(SELF, OTHER, { lamports: 9n, space: 0, owner: OTHER })], 9n],
    ['a new account with a seed', [withSeed], 77n],
    ['what comes to the relayer', [transfer(OTHER, SELF, 5n)], 0n],
    ['a transfer that is cut off', [{ ...STEP, data: u32(2) }], 0n],
    ['another program', [{ ...STEP, program: someAddress(8) }], 0n],
    ['another instruction', [{ program: SYSTEM_PROGRAM, accounts: STEP.accounts, data: u32(8) }], 0n],
  ])('%s', (_what, steps, amount) => {
    const asSelf = instructionsOf(...steps).instructions?.map((one) => ({
      ...one,
      accounts: one.accounts.map((account) => ({ ...account, isSigner: account.pubkey === SELF })),
    }))
    expect(amountOutOf(requestOf({ instructions: asSelf ?? [] }))).toBe(amount)
  })
})
