import type { Receipt } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import { contentKind, isNoop } from '../model/attempts.ts'
import {
  afterInclusion,
  fallBackIn,
  noopIncludedReason,
  noopReasonIn,
  tellsFallBack,
  withoutWaiting,
} from '../model/status-reasons.ts'
import type { Purpose, TransactionWithAttempts } from '../model/transaction.ts'

/** An attempt that a block includes. `reason` says why it was reverted; it is absent if it was not. */
export interface Inclusion {
  readonly attempt: Attempt
  readonly receipt: Receipt
  readonly reason: string | undefined
  /** What was asked for and did not happen, although the transaction succeeded. */
  readonly note?: string | undefined
}

/**
 * Returns the `status_reason` of a transaction whose attempt a block includes; undefined if nothing needs an
 * explanation. Pure.
 */
export function inclusionReason(
  item: TransactionWithAttempts,
  { attempt, receipt, reason, note }: Inclusion,
): string | undefined {
  return joined(sentByOthers(attempt, receipt), attemptReason(item, attempt, reason), note)
}

/** Explains that the chain includes the content of the attempt in bytes that a third party sent. */
function sentByOthers({ signed }: Attempt, { result }: Receipt): string | undefined {
  const { appliedHash, feeAccount } = result ?? {}
  if (appliedHash === undefined || appliedHash === signed.hash) return undefined
  const payer = feeAccount === undefined ? '' : `, and ${feeAccount} paid the fee`
  return `A third party sent the same signed content to the network: it was included once, as transaction ${appliedHash}${payer}.`
}

function joined(...sentences: readonly (string | undefined)[]): string | undefined {
  const present = sentences.filter((sentence) => sentence !== undefined)
  return present.length === 0 ? undefined : present.join(' ')
}

const WANTED: Readonly<Record<Purpose, string>> = {
  request: 'its replacement',
  successor: 'its replacement',
  cancel: 'its cancellation',
  expire: 'the no-op of valid_until',
  abandon: 'the no-op',
  gap_filler: 'the filler',
  setup: 'the setup transaction',
}

/**
 * Explains an inclusion that differs from the last request; otherwise returns the stored reason if it is
 * still true.
 */
function attemptReason(
  item: TransactionWithAttempts,
  attempt: Attempt,
  reason: string | undefined,
): string | undefined {
  const statusReason = withoutWaiting(item.transaction.statusReason)
  const reverted = reason === undefined ? undefined : `Reverted on chain: ${reason}.`
  const loser = contentThatLost(item, attempt)
  if (loser === undefined)
    return (
      joined(refusedReason(item, attempt), reverted) ??
      comparedReason(item, attempt) ??
      noopReasonOf(item, attempt) ??
      (isReasonOfAttempt(item, attempt)
        ? afterInclusion(noopReasonIn(statusReason) ?? fallBackIn(statusReason) ?? statusReason ?? '') ||
          undefined
        : undefined)
    )
  const explanation = `Attempt ${attempt.number} was included before ${loser}, which has lost.`
  return reverted === undefined ? explanation : `${explanation} ${reverted}`
}

/**
 * A change that a node refused, so that its caller got an error, was included after all: a node had accepted
 * its bytes.
 */
function refusedReason({ transaction }: TransactionWithAttempts, attempt: Attempt): string | undefined {
  const { number, kind, outcome, error } = attempt
  const isChange = kind === 'replace' || kind === 'cancel'
  if (!isChange || outcome !== 'refused' || number === transaction.currentAttempt) return undefined
  const change = kind === 'replace' ? 'replacement' : 'cancellation'
  return `The ${change} (attempt ${number}) was included, although a node had refused it: ${error ?? 'no reason given'}.`
}

/**
 * A no-op that was compared with refused content was included before anyone learned that a node had taken it.
 */
function comparedReason(
  { transaction: { purpose }, attempts }: TransactionWithAttempts,
  { number }: Attempt,
): string | undefined {
  if (purpose !== 'request' || contentKind(attempts, number) !== 'abandon') return undefined
  const refused = attempts.findLast(({ kind, error }) => !isNoop(kind) && error !== undefined)
  return noopIncludedReason('refused', refused?.error)
}

/**
 * Why a no-op is included that its caller wanted. What was stored about it may be about a wait, a lost block,
 * or a pending decision.
 */
function noopReasonOf({ attempts }: TransactionWithAttempts, { number }: Attempt): string | undefined {
  const kind = contentKind(attempts, number)
  if (kind === 'cancel') return noopIncludedReason('canceled')
  return kind === 'expire' ? noopIncludedReason('expired') : undefined
}

/**
 * Keep the stored reason only if the included attempt is the one that the reason describes. A caller whose
 * newer content was refused after it had been accepted here learns it from nothing else.
 */
function isReasonOfAttempt(
  { transaction: { purpose, statusReason }, attempts }: TransactionWithAttempts,
  { number }: Attempt,
): boolean {
  if (purpose === 'request') return tellsFallBack(statusReason, number)
  return !isNoop(purpose) || contentKind(attempts, number) === purpose
}

/**
 * Names the newer content that can no longer be included; undefined if the included attempt is the newest
 * content.
 */
function contentThatLost(
  { transaction, attempts }: TransactionWithAttempts,
  attempt: Attempt,
): string | undefined {
  const { purpose } = transaction
  const wanted = attempts.findLast(
    ({ kind, outcome }) =>
      kind !== 'speed_up' && outcome !== 'refused' && !(kind === 'abandon' && purpose === 'request'),
  )
  if (wanted !== undefined && attempt.number < wanted.number)
    return `${WANTED[purpose]} (attempt ${wanted.number})`
  // This content waited for the attempt to expire, and was never signed.
  const unsigned = purpose === 'successor' || (purpose === 'cancel' && attempt.kind !== 'cancel')
  return unsigned && attempt.kind !== 'speed_up' ? WANTED[purpose] : undefined
}
