import type { StellarMemo } from '../model/operation.ts'
import type { Problem } from './fields.ts'

/** `string text<28>` of XDR: bytes, not characters. */
const MAX_TEXT_BYTES = 28

/** The largest integer of XDR's `uint64`. */
const MAX_ID = 2n ** 64n - 1n

/** Checks a memo. */
export function checkMemo(memo: StellarMemo): Problem {
  if (memo.type === 'text') {
    const bytes = Buffer.byteLength(memo.value)
    return bytes <= MAX_TEXT_BYTES
      ? undefined
      : `memo.value: at most ${MAX_TEXT_BYTES} bytes of UTF-8 are expected, ${bytes} were given.`
  }
  if (memo.type === 'id') {
    return memo.value >= 0n && memo.value <= MAX_ID
      ? undefined
      : `memo.value: a number from 0 to ${MAX_ID} is expected.`
  }
  if (memo.type === 'hash' || memo.type === 'return') return checkHash(memo.value)
  return undefined
}

function checkHash(value: readonly number[] | string): Problem {
  const fits =
    typeof value === 'string'
      ? /^[0-9a-fA-F]{64}$/.test(value)
      : value.length === 32 && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
  return fits
    ? undefined
    : 'memo.value: 32 bytes are expected, as integers from 0 to 255 or as 64 hexadecimal digits.'
}
