import { describe, expect, test } from 'vitest'
import { flooredGas, intrinsicGas, withinLimit } from '../../../../src/chains/evm/prepare/gas.ts'
import { TO } from '../build.ts'

const bytes = (zeros: number, others: number) => `0x${'00'.repeat(zeros)}${'ff'.repeat(others)}`

describe('the gas that every node demands', () => {
  test.each([
    { name: 'a transfer', request: { to: TO }, want: 21_000n, floored: 21_000n },
    { name: 'empty data', request: { to: TO, data: '0x' }, want: 21_000n, floored: 21_000n },
    // 4 and 16 a byte are less than the EIP-7623 floor of 10 a token (1 token and 4 tokens).
    { name: 'one zero byte', request: { to: TO, data: bytes(1, 0) }, want: 21_004n, floored: 21_010n },
    { name: 'one other byte', request: { to: TO, data: bytes(0, 1) }, want: 21_016n, floored: 21_040n },
    {
      name: 'a call with 4 + 32 bytes',
      request: { to: TO, data: bytes(31, 5) },
      want: 21_000n + 124n + 80n,
      floored: 21_000n + 310n + 200n,
    },
    // 2,400 an account and 1,900 a slot (EIP-2930), 25,000 an authorization (EIP-7702).
    {
      name: 'lists',
      request: {
        to: TO,
        accessList: [
          { address: TO, storageKeys: ['0x00', '0x01'] },
          { address: TO, storageKeys: [] },
        ],
        authorizationList: [{ chainId: 0, address: TO, nonce: 0n, yParity: 0, r: '0x1', s: '0x1' } as const],
      },
      want: 21_000n + 4_800n + 3_800n + 25_000n,
      floored: 21_000n + 4_800n + 3_800n + 25_000n,
    },
    // 21,000 + 32,000 + 2 a word of init code (EIP-3860) + 16 a byte.
    {
      name: 'a creation of 33 bytes',
      request: { data: bytes(0, 33) },
      want: 53_000n + 4n + 33n * 16n,
      floored: 53_000n + 4n + 33n * 16n,
    },
    {
      name: 'a creation of zero bytes',
      request: { data: bytes(32, 0) },
      want: 53_000n + 2n + 128n,
      floored: 53_000n + 2n + 128n,
    },
    // 40 a byte overtakes 16 a byte and 32,000 for the creation when there are enough of them.
    {
      name: 'a large creation',
      request: { data: bytes(0, 2_000) },
      want: 53_000n + 126n + 32_000n,
      floored: 21_000n + 80_000n,
    },
  ])('$name', ({ request, want, floored }) => {
    expect(intrinsicGas(request)).toBe(want)
    expect(flooredGas(request)).toBe(floored)
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
