import type { Hex } from 'viem'
import { isEnded } from '../shared/transactions.ts'
import type { Settings } from './config.ts'
import type { RelayedTransaction } from './content.ts'
import type { Outcome, Receipt } from './told.ts'

/** A status of the draft; 210 is of Gelato's dialect alone. */
export type RelayStatus = {
  readonly id: Hex
  readonly chainId: string
  /** Seconds since 1970. */
  readonly createdAt: number
} & (
  | { readonly status: 100 }
  | { readonly status: 110; readonly hash: string; readonly message?: string }
  | { readonly status: 200 | 210; readonly hash: string; readonly receipt: Receipt }
  | { readonly status: 400; readonly message: string }
  | {
      readonly status: 500
      readonly hash: string
      readonly receipt: Receipt
      readonly data: Hex
      readonly message: string
    }
)

/** What is known of a request. */
export interface Progress {
  readonly id: Hex
  readonly chainId: number
  readonly transaction: RelayedTransaction
  /** False if something else was signed in place of the request, such as a no-op. */
  readonly isContent: boolean
  /** What a block did; undefined while none includes it. */
  readonly outcome: Outcome | undefined
}

/**
 * Tells the status of a request by its transaction. A success and a failure are told only with proof, and a
 * failure only when the block is final: until then the same bytes may be included once more.
 */
export function statusOf(
  { id, chainId, transaction, isContent, outcome }: Progress,
  { waitFor }: Pick<Settings, 'waitFor'>,
): RelayStatus {
  const { status, hash, created_at, status_reason: reason } = transaction
  const head = { id, chainId: String(chainId), createdAt: Math.floor(Date.parse(created_at) / 1000) }
  const failed = outcome?.kind === 'told' ? [...outcome.failures.values()].join(' ') : ''
  if (isEnded(status)) {
    const message = reason ?? `The transaction is ${status}.`
    if (hash === undefined || outcome === undefined) return { ...head, status: 400, message }
    return outcome.kind === 'unknown'
      ? { ...head, status: 110, hash, message: outcome.message }
      : { ...head, status: 500, hash, receipt: outcome.receipt, data: '0x', message }
  }
  if (hash === undefined || status === 'pending') return { ...head, status: 100 }
  const isFinal = status === 'confirmed'
  if (isFinal && !isContent)
    return { ...head, status: 400, message: reason ?? 'Something else was sent in its place.' }
  if (outcome?.kind === 'unknown') return { ...head, status: 110, hash, message: outcome.message }
  const isReached = isFinal || (status === 'mined' && waitFor === 'mined')
  if (!isReached || !isContent || outcome === undefined) return { ...head, status: 110, hash }
  if (failed === '') return { ...head, status: isFinal ? 210 : 200, hash, receipt: outcome.receipt }
  return isFinal
    ? { ...head, status: 500, hash, receipt: outcome.receipt, data: '0x', message: failed }
    : { ...head, status: 110, hash, message: failed }
}

/** Writes 210 as 200: only `gelato_getStatus` knows it. */
export function asDraft(status: RelayStatus): RelayStatus {
  return status.status === 210 ? { ...status, status: 200 } : status
}

/** True for a status after which nothing changes, as clients see it. */
export function isTerminal({ status }: RelayStatus): boolean {
  return status !== 100 && status !== 110
}
