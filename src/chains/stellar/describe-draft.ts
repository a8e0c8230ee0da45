import type { Memo, Operation } from '@stellar/stellar-sdk/xdr'
import type { StellarDraft } from './content.ts'
import { maxTimeOf, openEnvelope } from './envelope.ts'
import { totalFee } from './fees.ts'
import type { StellarMemo } from './operation.ts'
import { underlying } from './strkey.ts'

/** A draft as people read it, without XDR. */
export interface DraftDescription {
  /** Whose transaction it is inside a fee bump; the relayer's own account where it is the service's. */
  readonly source: string
  readonly memo: StellarMemo
  /** The names of the operations, as in XDR (`payment`, `invokeHostFunction`). */
  readonly operations: readonly Operation['body']['type'][]
  /** What the envelope offers in all, in stroops. */
  readonly fee: bigint
  readonly feePerOperation: bigint
  readonly resourceFee: bigint
  readonly feeBump: boolean
  /** The last close time at which a ledger may include it. */
  readonly validUntil?: Date
}

/** What a draft says. */
export function describeDraft(draft: StellarDraft): DraftDescription {
  const { tx } = openEnvelope(draft.envelope)
  const maxTime = maxTimeOf(tx)
  return {
    source: underlying(tx.sourceAccount),
    memo: describeMemo(tx.memo),
    operations: tx.operations.map(({ body }) => body.type),
    fee: totalFee(draft, draft.bumped),
    feePerOperation: draft.feePerOperation,
    resourceFee: draft.resourceFee,
    feeBump: draft.bumped,
    ...(maxTime === undefined ? {} : { validUntil: new Date(Number(maxTime) * 1_000) }),
  }
}

function describeMemo(memo: Memo): StellarMemo {
  switch (memo.type) {
    case 'memoNone':
      return { type: 'none' }
    case 'memoText':
      return { type: 'text', value: memo.text.toString() }
    case 'memoId':
      return { type: 'id', value: memo.id }
    case 'memoHash':
      return { type: 'hash', value: memo.hash.toString() }
    case 'memoReturn':
      return { type: 'return', value: memo.retHash.toString() }
  }
}
