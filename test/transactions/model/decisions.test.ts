import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { Chain } from '../../../src/chains/chain.ts'
import type { EvmRequest } from '../../../src/chains/evm/content.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import type { Signer } from '../../../src/signers/signer.ts'
import {
  contentKind,
  hashesOf,
  hashesOfAll,
  isNoop,
  openAttempts,
  reservation,
  unprovenAttempts,
} from '../../../src/transactions/model/attempts.ts'
import { isGasNamed, isPriceNamed, levelOf, speedUpAfterMs } from '../../../src/transactions/model/due.ts'
import {
  isExternallySigned,
  type RelayerRuntime,
  signingContextOf,
} from '../../../src/transactions/model/runtime.ts'
import { PURPOSES, type Purpose, type Transaction } from '../../../src/transactions/model/transaction.ts'
import { draftOf, FROM, legacy, requestOf, TO } from '../../chains/evm/build.ts'
import { itemOf } from '../build.ts'

const transactionOf = (request: Partial<EvmRequest>, purpose: Purpose = 'request') =>
  itemOf([{}], { request: requestOf(request), purpose }).transaction
const stellar = { ...itemOf().transaction, request: { type: 'stellar' } } as unknown as Transaction

test.each(PURPOSES.map((purpose) => [purpose]))('the purpose %s is a no-op, or not', (purpose) => {
  expect(isNoop(purpose)).toBe(['cancel', 'expire', 'abandon', 'gap_filler'].includes(purpose))
})

describe('the content of an attempt', () => {
  const attempts = itemOf([
    {},
    { kind: 'replace', outcome: 'refused' },
    { kind: 'speed_up' },
    { kind: 'cancel' },
    { kind: 'speed_up' },
  ]).attempts

  test.each<[number | undefined, Attempt['kind'] | undefined]>([
    [1, 'send'],
    [2, 'replace'],
    [3, 'send'],
    [4, 'cancel'],
    [5, 'cancel'],
    [undefined, undefined],
  ])('number %s is %s', (number, want) => {
    expect(contentKind(attempts, number)).toBe(want)
  })
})

describe('what the caller named', () => {
  test.each<[string, Transaction, string, boolean, boolean]>([
    ['nothing', transactionOf({}), 'fast', false, false],
    ['a speed', transactionOf({ speed: 'safeLow' }), 'safeLow', false, false],
    ['a gas price', transactionOf({ gasPrice: 0n }), 'fast', true, false],
    ['a highest fee', transactionOf({ maxFeePerGas: 0n }), 'fast', true, false],
    ['a gas limit', transactionOf({ gasLimit: 0n }), 'fast', false, true],
    [
      'everything, before a no-op of the service took its place',
      transactionOf({ speed: 'safeLow', gasPrice: 5n, maxFeePerGas: 5n, gasLimit: 5n }, 'cancel'),
      'fast',
      false,
      false,
    ],
    ['nothing, on another chain', stellar, 'fast', false, false],
  ])('%s', (_name, transaction, level, price, gas) => {
    expect([levelOf(transaction), isPriceNamed(transaction), isGasNamed(transaction)]).toEqual([
      level,
      price,
      gas,
    ])
  })

  const chain = (change: Partial<Chain> = {}) =>
    ({
      speed: (level: string) => ({ priceMultiplier: 1, raiseAfterSeconds: level === 'fast' ? 3 : 10 }),
      ...change,
    }) as Chain

  test.each<[string, Chain, Transaction, number | undefined]>([
    ['is that of its speed', chain(), transactionOf({ speed: 'safeLow' }), 10_000],
    [
      'is that of a no-op of the service',
      chain(),
      transactionOf({ speed: 'safeLow', gasPrice: 5n }, 'cancel'),
      3_000,
    ],
    ['is absent for a named price', chain(), transactionOf({ gasPrice: 5n }), undefined],
    ['is absent where bytes expire', chain({ expiry: {} as never }), transactionOf({}), undefined],
    ['is absent on such a chain', chain({ expiry: {} as never }), stellar, undefined],
  ])('the delay until its fee is raised %s', (_name, at, transaction, want) => {
    expect(speedUpAfterMs(at, transaction)).toBe(want)
  })
})

describe('the accounts of a relayer', () => {
  const [own, channel] = [FROM, '0xchannel'].map((address) => ({ address, signer: {} as Signer }))
  if (!own || !channel) throw new Error('there are two')
  const runtime = { account: own, sourceAccounts: [own, channel] } as unknown as RelayerRuntime

  test.each<[string | undefined, boolean]>([
    [FROM, false],
    ['0xchannel', false],
    [TO, true],
    [undefined, false],
  ])('the source account %s belongs to a third party: %s', (sourceAccount, want) => {
    expect(isExternallySigned(runtime, { sourceAccount })).toBe(want)
  })

  test('sign for their own nonces; a third party has signed already', () => {
    expect(signingContextOf(runtime, '0xchannel', 7n)).toEqual({
      sourceAccount: channel,
      nonce: 7n,
      account: own,
    })
    expect(signingContextOf(runtime, TO, undefined)).toEqual({
      sourceAccount: { address: TO, signer: undefined },
      nonce: undefined,
      account: own,
    })
  })
})

describe('the attempts of a transaction', () => {
  const OUTCOMES = ['signed', 'broadcast', 'refused', 'mined', 'reverted', 'superseded', 'expired'] as const
  const { attempts } = itemOf(OUTCOMES.map((outcome) => ({ outcome })))
  const numbersOf = (list: readonly Attempt[]) => list.map(({ outcome }) => outcome)

  test('that the chain can still include, and those without a proof', () => {
    expect(numbersOf(openAttempts(attempts))).toEqual(['signed', 'broadcast'])
    expect(numbersOf(unprovenAttempts(attempts))).toEqual(['signed', 'broadcast', 'refused'])
  })

  test('reserve the cost of the most expensive one', () => {
    const drafts = [2n, 9n, 4n].map((value) => draftOf(legacy(0n), { value }))
    const costOf = (draft: unknown) => (draft as { value: bigint }).value
    expect(reservation(drafts, costOf)).toBe(9n)
    expect(reservation([], costOf)).toBe(0n)
  })

  test('have their own hash, or every hash that the chain can show, each once', () => {
    const list = itemOf([{}, {}]).attempts
    const [first, second] = list
    if (!first || !second) throw new Error('there are two')
    const plain = {} as Chain
    expect(hashesOf(plain, first)).toEqual([first.signed.hash])
    expect(hashesOfAll(plain, [first, second, first])).toEqual([first.signed.hash, second.signed.hash])
    const inner = {
      inclusionHashes: { of: ({ signed }: EvmAttempt) => [signed.hash, '0xinner'] },
    } as unknown as Chain
    expect(hashesOfAll(inner, list)).toEqual([first.signed.hash, '0xinner', second.signed.hash])
  })
})
