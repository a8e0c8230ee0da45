import { isNoop } from './attempts.ts'
import type { Transaction } from './transaction.ts'

/** The reasons for which a no-op uses the nonce of a transaction. */
export type NoopCause = 'canceled' | 'expired' | 'blocking' | 'refused' | 'priced_out' | 'unprepared'

/**
 * What each of them says about the transaction, as a clause without a full stop. `detail` is the text of the
 * node, or the sentence that refused its content.
 */
const CAUSES: Readonly<Record<NoopCause, (detail: string) => string>> = {
  canceled: () => 'Canceled by the caller',
  expired: () => 'valid_until passed',
  blocking: () => 'It blocked the account for a day, and no block included it',
  refused: (detail) => `The node refused it permanently (${detail})`,
  priced_out: (detail) =>
    `No endpoint accepted the price set by its caller, and others waited behind it (${detail})`,
  unprepared: (detail) => detail.replace(/\.$/, ''),
}

const WILL_USE = '; a no-op will use its nonce.'
const USED = '; a no-op used its nonce.'

/** Returns the `status_reason` of a transaction that becomes a no-op, which no block includes yet. */
export function noopReason(cause: NoopCause, detail = 'no reason given'): string {
  return `${CAUSES[cause](detail)}${WILL_USE}`
}

/** Returns the `status_reason` of a transaction whose no-op a block includes. */
export function noopIncludedReason(cause: NoopCause, detail = 'no reason given'): string {
  return `${CAUSES[cause](detail)}${USED}`
}

/**
 * The `status_reason` when nodes refuse newer content permanently, so that an earlier attempt counts again.
 */
export function fallBackReason(refused: number, detail: string, counts: number | undefined): string {
  return `Attempt ${refused} was refused by the node (${detail}); attempt ${counts} still counts.`
}

const NOOP = /^(.*?); a no-op (?:will use|used) its nonce\./s

const FALL_BACK = /^Attempt (\d+) was refused by the node \(.*\); attempt \d+ still counts\./s

/**
 * Returns the sentence about such a refusal that a `status_reason` begins with, without what follows it;
 * undefined if there is none.
 */
export function fallBackIn(statusReason: string | undefined): string | undefined {
  return FALL_BACK.exec(statusReason ?? '')?.[0]
}

/**
 * Returns a `status_reason` about the future in the past tense: a block has included its attempt.
 */
export function afterInclusion(statusReason: string): string {
  return statusReason
    .replaceAll(WILL_USE, USED)
    .replace(/; attempt (\d+) still counts\./, '; attempt $1 was included.')
}

/**
 * Returns the sentence why a no-op uses the nonce that a `status_reason` begins with, about the future and
 * without what follows it; undefined if there is none.
 */
export function noopReasonIn(statusReason: string | undefined): string | undefined {
  const [, cause] = NOOP.exec(statusReason ?? '') ?? []
  return cause === undefined ? undefined : `${cause}${WILL_USE}`
}

/**
 * Returns the `status_reason` with what happens now. In front of it stays the sentence why a no-op uses the
 * nonce, which nothing else of the record says, or the sentence about the refusal where content counts again.
 * Pure.
 */
export function afterCause(
  { purpose, statusReason }: Pick<Transaction, 'purpose' | 'statusReason'>,
  detail: string,
): string {
  const sentence = (isNoop(purpose) ? noopReasonIn(statusReason) : undefined) ?? fallBackIn(statusReason)
  return sentence === undefined ? detail : `${sentence} ${detail}`
}

/**
 * Returns true for a `status_reason` that begins with such a refusal, of another attempt than `included`.
 * Pure.
 */
export function tellsFallBack(statusReason: string | undefined, included?: number): boolean {
  const [, refused] = FALL_BACK.exec(statusReason ?? '') ?? []
  return refused !== undefined && Number(refused) !== included
}

/**
 * The beginning of each sentence about a wait for inclusion. Such a sentence is no longer true when the wait
 * is over.
 */
const PREFIX = 'Waiting for inclusion; '

/**
 * Returns the `status_reason` of a transaction that waits for inclusion. For a no-op it keeps the sentence
 * about its purpose, and for content that counts again the sentence about the refusal of newer content. Pure.
 */
export function waitingReason({ purpose, statusReason }: Transaction, detail: string): string {
  const cause = isNoop(purpose) || tellsFallBack(statusReason) ? withoutWaiting(statusReason) : undefined
  return cause === undefined ? `${PREFIX}${detail}` : `${cause} ${PREFIX}${detail}`
}

/** Removes the sentence of an earlier wait from a `status_reason`; undefined if nothing is left. Pure. */
export function withoutWaiting(statusReason: string | undefined): string | undefined {
  const start = statusReason?.indexOf(PREFIX) ?? -1
  if (start === -1) return statusReason
  const cause = statusReason?.slice(0, start).trimEnd()
  return cause === '' ? undefined : cause
}
