import type { ExternalNonce } from '../../capabilities.ts'
import type { StellarRequest } from '../content.ts'
import { openEnvelope } from '../model/envelope.ts'
import { underlying } from '../model/strkey.ts'
import type { StellarAttempt } from '../types.ts'

/** Returns the source and sequence number of externally signed content. */
export function externalNonceOf({ feeBump, transactionXdr }: StellarRequest): ExternalNonce | undefined {
  if (feeBump !== true || transactionXdr === undefined) return undefined
  const { tx } = openEnvelope(transactionXdr)
  return { address: underlying(tx.sourceAccount), nonce: tx.seqNum }
}

/**
 * Returns the attempts that the ledger may include in addition to the new content. Only content with the same source and sequence number
 * excludes an attempt. The service signs its own content for the number of its own attempts, and cannot sign for that of a third party.
 * Refused attempts count, because another node may have accepted their bytes.
 */
export function notExcluded(
  request: StellarRequest,
  attempts: readonly StellarAttempt[],
): readonly StellarAttempt[] {
  const externalNonce = externalNonceOf(request)
  return attempts.filter(({ outcome, sourceAccount, nonce, draft }) => {
    if (outcome !== 'signed' && outcome !== 'broadcast' && outcome !== 'refused') return false
    return externalNonce === undefined
      ? draft.externallySigned
      : externalNonce.address !== sourceAccount || externalNonce.nonce !== nonce
  })
}
