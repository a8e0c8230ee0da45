import type { TransactionStatus } from '../transactions/model/transaction.ts'

/** Returns true when a node has the transaction and no block includes it. */
export function isUnmined(status: TransactionStatus): boolean {
  return status === 'sent' || status === 'submitted'
}
