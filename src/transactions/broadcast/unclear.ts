import type { Attempt } from '../../chains/attempt.ts'
import { attemptsAtNonce, isNoop } from '../model/attempts.ts'
import { isGasNamed, isPriceNamed } from '../model/due.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'

// The steps after nodes keep refusing bytes in unknown wording. Such a refusal is about the content, about
// its price or gas, or about the node. First the content is priced and estimated again. Then a no-op with the
// same nonce and no higher price is broadcast right after a refusal: a node that accepts it refuses the
// content, and the no-op uses the nonce; a node that refuses it as well refuses everything, which decides
// nothing. All functions of this file are pure.

/** Time in ms until bytes are broadcast again after this many refusals; later ones wait for `LATER_MS`. */
const FIRST_MS = [1_000, 2_000, 4_000, 8_000]

/**
 * A node that works again takes the bytes within this time, in ms. The numbers of refusals below count in it.
 */
const LATER_MS = 15_000

/**
 * After this many refusals, 30 s, the content is priced and estimated again. Fewer sign again for a node that
 * only hiccups.
 */
const PREPARED_AGAIN_AFTER = 6

/**
 * After this many refusals, two and a half minutes, the content is compared with a no-op. A node or gateway
 * that restarts refuses everything for a minute or two, so an earlier comparison can meet it just when it
 * works again; a later one keeps what is behind waiting.
 */
const COMPARED_AFTER = 14

/**
 * The same limit, nine minutes, while another endpoint does not answer: it may come back, and take the
 * content.
 */
const COMPARED_AMONG_SILENT = 40

/**
 * An inconclusive comparison is repeated after this many further refusals, ten minutes. Each stores an
 * attempt when prices have changed.
 */
const COMPARED_AGAIN_AFTER = 40

/**
 * Returns the time in ms until bytes are broadcast again that nodes have refused this many times in a row.
 */
export function retryAfterMs(refusals: number): number {
  return FIRST_MS[refusals - 1] ?? LATER_MS
}

/** A no-op that is broadcast for a comparison. The request remains wanted until a node takes it. */
export function isComparison({ purpose }: Transaction, { kind }: Attempt): boolean {
  return purpose === 'request' && kind === 'abandon'
}

/**
 * Counts the refusals in a row of the content that is wanted now, in all of its attempts since a node took
 * one or the caller replaced it.
 */
export function refusalsOf(item: TransactionWithAttempts): number {
  return refusedInRow(item).reduce((sum, { refusals = 0 }) => sum + refusals, 0)
}

function refusedInRow(item: TransactionWithAttempts): Attempt[] {
  const { purpose } = item.transaction
  const attempts = attemptsAtNonce(item).filter(({ kind }) =>
    isNoop(purpose) ? kind === purpose : !isNoop(kind),
  )
  const first = attempts.findLastIndex(
    ({ kind, broadcastAt }) => kind === 'replace' || broadcastAt !== undefined,
  )
  return attempts.slice(Math.max(0, first))
}

/**
 * Tests that the content is to be priced and estimated again, once, with the refusal of its current attempt.
 */
export function isPreparedAgain(item: TransactionWithAttempts): boolean {
  const { transaction } = item
  if (transaction.purpose !== 'request' || (isPriceNamed(transaction) && isGasNamed(transaction)))
    return false
  const wasPrepared = refusedInRow(item).some(({ outcome }) => outcome === 'refused')
  return !wasPrepared && refusalsOf(item) + 1 >= PREPARED_AGAIN_AFTER
}

/**
 * Tests whether a newer attempt gives way to an earlier one that a node has accepted, with one more refusal.
 */
export function fallsBack({ refusals = 0 }: Attempt): boolean {
  return refusals + 1 >= COMPARED_AFTER
}

/**
 * Tests that the refused content is to be compared with a no-op now. `unanswered`: an endpoint did not answer
 * the last broadcast.
 */
export function isComparisonDue(item: TransactionWithAttempts, unanswered: boolean): boolean {
  const current = item.attempts.find(({ number }) => number === item.transaction.currentAttempt)
  // An earlier attempt, which a node has taken, counts again.
  if (current?.refusals === undefined) return false
  const compared = attemptsAtNonce(item)
    .filter((attempt) => isComparison(item.transaction, attempt))
    .reduce((sum, { refusals = 0 }) => sum + refusals, 0)
  const first = unanswered ? COMPARED_AMONG_SILENT : COMPARED_AFTER
  return refusalsOf(item) >= first + compared * COMPARED_AGAIN_AFTER
}

/** The newest attempt of a request that was compared with a no-op. */
export function comparedAttempt(item: TransactionWithAttempts): Attempt | undefined {
  return attemptsAtNonce(item).findLast(({ kind }) => !isNoop(kind))
}
