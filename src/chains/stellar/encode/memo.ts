import { Memo } from '@stellar/stellar-sdk/xdr'
import type { StellarMemo } from '../model/operation.ts'

/** Encodes a memo as XDR; an absent memo as none. */
export function encodeMemo(memo: StellarMemo | undefined): Memo {
  if (memo === undefined || memo.type === 'none') return Memo.memoNone()
  if (memo.type === 'text') return Memo.memoText(memo.value)
  if (memo.type === 'id') return Memo.memoId(memo.value)
  const bytes = typeof memo.value === 'string' ? Buffer.from(memo.value, 'hex') : Uint8Array.from(memo.value)
  return memo.type === 'hash' ? Memo.memoHash(bytes) : Memo.memoReturn(bytes)
}
