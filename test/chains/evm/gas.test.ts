import { describe, expect, test } from 'vitest'
import { intrinsicGas } from '../../../src/chains/evm/gas.ts'
import { TO } from './build.ts'

const bytes = (zeros: number, others: number) => `0x${'00'.repeat(zeros)}${'ff'.repeat(others)}`

describe('intrinsicGas', () => {
  test.each([
    { name: 'a transfer', request: { to: TO }, want: 21_000n },
    { name: 'empty data', request: { to: TO, data: '0x' }, want: 21_000n },
    // 4 and 16 a byte are less than the EIP-7623 floor of 10 a token (1 token and 4 tokens).
    { name: 'one zero byte: the floor', request: { to: TO, data: bytes(1, 0) }, want: 21_010n },
    { name: 'one other byte: the floor', request: { to: TO, data: bytes(0, 1) }, want: 21_040n },
    {
      name: 'a call with 4 + 32 bytes',
      request: { to: TO, data: bytes(31, 5) },
      want: 21_000n + 310n + 200n,
    },
    // 21,000 + 32,000 + 2 a word of init code (EIP-3860) + 16 a byte.
    { name: 'a creation of 33 bytes', request: { data: bytes(0, 33) }, want: 53_000n + 4n + 33n * 16n },
    { name: 'a creation of zero bytes', request: { data: bytes(32, 0) }, want: 53_000n + 2n + 128n },
    // 40 a byte overtakes 16 a byte and 32,000 for the creation when there are enough of them.
    { name: 'a large creation: the floor', request: { data: bytes(0, 2_000) }, want: 21_000n + 80_000n },
  ])('$name', ({ request, want }) => {
    expect(intrinsicGas(request)).toBe(want)
  })
})
