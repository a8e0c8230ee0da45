import type { After } from '../model/after.ts'
import type { TransactionStatus } from '../model/transaction.ts'

/** The facts about a transaction that decide about those that wait for it. */
export interface Predecessor {
  readonly id: string
  readonly relayerId: string
  readonly status: TransactionStatus
  readonly statusReason?: string | undefined
  /** A block includes its content, which succeeded there. */
  readonly hasSucceeded: boolean
}

/**
 * Tells what the other transaction means for one that waits for it. A success in a block can still be undone,
 * which only `confirmed` excludes; a failure in a block is final only when the record is. Pure.
 */
export function evaluateAfter(
  { state, onFailure }: Pick<After, 'state' | 'onFailure'>,
  predecessor: Pick<Predecessor, 'status' | 'hasSucceeded'> | undefined,
): 'wait' | 'release' | 'cancel' {
  const failed = onFailure === 'send' ? 'release' : 'cancel'
  if (predecessor === undefined) return failed
  switch (predecessor.status) {
    case 'confirmed':
      return 'release'
    case 'failed':
    case 'canceled':
    case 'expired':
      return failed
    case 'mined':
      return state === 'mined' && predecessor.hasSucceeded ? 'release' : 'wait'
    default:
      return 'wait'
  }
}

/** Returns the `status_reason` of a transaction that ends because the other one did not succeed. Pure. */
export function afterFailedReason({ transactionId }: After, predecessor: Predecessor | undefined): string {
  const end = predecessor === undefined ? 'no longer exists' : `is ${predecessor.status}`
  const reason = predecessor?.statusReason === undefined ? '' : ` (${withoutStop(predecessor.statusReason)})`
  return `It waited for transaction ${transactionId}, which ${end}${reason}; nothing was signed.`
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
