import { describe, expect, test } from 'vitest'
import { isDoubtfulLimit, leastIntrinsicGas, withinLimit } from '../../../../src/chains/evm/prepare/gas.ts'
import { TO } from '../build.ts'

const bytes = (zeros: number, others: number) => `0x${'00'.repeat(zeros)}${'ff'.repeat(others)}`

describe('the gas before the first instruction', () => {
  const AUTHORIZATION = { chainId: 0, address: TO, nonce: 0n, yParity: 0, r: '0x1', s: '0x1' } as const
  const LISTS = {
    to: TO,
    accessList: [
      { address: TO, storageKeys: ['0x00', '0x01'] },
      { address: TO, storageKeys: [] },
    ],
    authorizationList: [AUTHORIZATION],
  }

  // `least`: EIP-2780, EIP-2028, EIP-2930 · `most`: EIP-2, EIP-7976 (64 a byte of calldata), EIP-7981 (64 a byte of lists), EIP-7702.
  test.each([
    { name: 'a transfer', request: { to: TO }, least: 12_000n, most: 21_000n },
    { name: 'empty data', request: { to: TO, data: '0x' }, least: 12_000n, most: 21_000n },
    { name: 'one zero byte', request: { to: TO, data: bytes(1, 0) }, least: 12_004n, most: 21_064n },
    { name: 'one other byte', request: { to: TO, data: bytes(0, 1) }, least: 12_016n, most: 21_064n },
    {
      name: 'lists',
      request: LISTS,
      least: 12_000n + 2n * 2_400n + 2n * 1_900n,
      most: 21_000n + 2n * (2_400n + 1_780n) + 2n * (1_900n + 2_148n) + 25_000n,
    },
    {
      name: 'a creation of 33 bytes',
      request: { data: bytes(0, 33) },
      least: 21_000n + 4n + 33n * 16n,
      most: 53_000n + 4n + 33n * 16n,
    },
    {
      name: 'a large creation',
      request: { data: bytes(0, 2_000) },
      least: 21_000n + 126n + 32_000n,
      most: 21_000n + 128_000n,
    },
  ])(
    'of $name: below $least nobody takes it, from $most on everybody, and in between the node decides',
    ({ request, least, most }) => {
      expect(leastIntrinsicGas(request)).toBe(least)
      expect([most - 1n, most].map((limit) => isDoubtfulLimit(request, limit, undefined))).toEqual([
        true,
        false,
      ])
    },
  )

  test.each([
    { name: 'as much as the configuration knows', gasLimit: 30_000n, want: false },
    { name: 'more than the configuration knows', gasLimit: 30_001n, want: true },
  ])('$name is doubtful: $want', ({ gasLimit, want }) => {
    expect(isDoubtfulLimit({ to: TO }, gasLimit, 30_000n)).toBe(want)
  })

  test.each([
    { name: 'as long as Prague allows', length: 49_152, want: false },
    { name: 'longer', length: 49_153, want: true },
  ])('init code $name is doubtful: $want', ({ length, want }) => {
    expect(isDoubtfulLimit({ data: bytes(length, 0) }, 20_000_000n, undefined)).toBe(want)
  })
})

describe('an estimate with its margin', () => {
  test.each([
    { name: 'below the limit', gas: 1_100n, most: 1_100n, want: 1_100n },
    { name: 'whose margin is above it', gas: 1_100n, most: 1_050n, want: 1_050n },
    { name: 'that is itself the limit', gas: 1_100n, most: 1_000n, want: 1_000n },
    { name: 'that is above it: as it is, to be refused', gas: 1_100n, most: 999n, want: 1_000n },
  ])('$name', ({ gas, most, want }) => {
    expect(withinLimit(gas, most)).toBe(want)
  })
})
