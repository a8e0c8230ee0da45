import { isNoop } from './purpose.ts'
import type { Transaction } from './transaction.ts'

/** The beginning of each sentence about a wait for inclusion. Such a sentence is no longer true when the wait is over. */
const PREFIX = 'Waiting for inclusion; '

/**
 * Gives the `status_reason` of a transaction that waits for inclusion. That of a no-op keeps the sentence which says what the no-op is for. Pure.
 */
export function waitingReason({ purpose, statusReason }: Transaction, detail: string): string {
  const cause = isNoop(purpose) ? withoutWaiting(statusReason) : undefined
  return cause === undefined ? `${PREFIX}${detail}` : `${cause} ${PREFIX}${detail}`
}

/** Removes the sentence of an earlier wait from a `status_reason`; undefined when nothing is left. Pure. */
export function withoutWaiting(statusReason: string | undefined): string | undefined {
  const start = statusReason?.indexOf(PREFIX) ?? -1
  if (start === -1) return statusReason
  const cause = statusReason?.slice(0, start).trimEnd()
  return cause === '' ? undefined : cause
}
