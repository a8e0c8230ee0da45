import { keccak256 as reference } from 'viem/utils'
import { expect, test } from 'vitest'
import { keccak256, keccak256Hex } from '../../src/lib/hash.ts'

// 136 bytes are a block of this hash.
test.each([0, 1, 135, 136, 137, 272, 1_048_576])('the hash of %i bytes is that of viem', (length) => {
  const bytes = Buffer.alloc(length, 'relayer')
  expect(keccak256Hex(bytes)).toBe(reference(bytes))
  expect(keccak256(bytes)).toEqual(reference(bytes, 'bytes'))
})

test('a hash stays what it was when the next one is computed', () => {
  const first = keccak256(Buffer.from('first'))
  const copy = Uint8Array.from(first)
  keccak256(Buffer.from('second'))
  expect(first).toEqual(copy)
})
