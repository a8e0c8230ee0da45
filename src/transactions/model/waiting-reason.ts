import { isNoop } from './attempts.ts'
import type { Transaction } from './transaction.ts'

/** The beginning of each sentence about a wait for inclusion. Such a sentence is no longer true when the wait is over. */
const PREFIX = 'Waiting for inclusion; '

/**
 * Gives the `status_reason` of a transaction that waits for inclusion. That of a no-op keeps the sentence which says what the no-op is for, and
 * that of content which counts again the sentence about the refusal of newer content. Pure.
 */
export function waitingReason({ purpose, statusReason }: Transaction, detail: string): string {
  const cause = isNoop(purpose) || tellsFallBack(statusReason) ? withoutWaiting(statusReason) : undefined
  return cause === undefined ? `${PREFIX}${detail}` : `${cause} ${PREFIX}${detail}`
}

/** Removes the sentence of an earlier wait from a `status_reason`; undefined when nothing is left. Pure. */
export function withoutWaiting(statusReason: string | undefined): string | undefined {
  const start = statusReason?.indexOf(PREFIX) ?? -1
  if (start === -1) return statusReason
  const cause = statusReason?.slice(0, start).trimEnd()
  return cause === '' ? undefined : cause
}

/** The `status_reason` when nodes refuse newer content for good, so that an earlier attempt counts again. */
export function fallBackReason(refused: number, detail: string, counts: number | undefined): string {
  return `Attempt ${refused} was refused by the node (${detail}); attempt ${counts} still counts.`
}

const FALL_BACK = /^Attempt (\d+) was refused by the node \(.*\); attempt \d+ still counts\./s

/** Returns the sentence about such a refusal with which a `status_reason` begins, without what follows it; undefined when there is none. Pure. */
export function fallBackIn(statusReason: string | undefined): string | undefined {
  return FALL_BACK.exec(statusReason ?? '')?.[0]
}

/** Gives the `status_reason` for what happens to content that counts again: the sentence about the refusal stays in front. Pure. */
export function afterFallBack(statusReason: string | undefined, detail: string): string {
  const sentence = fallBackIn(statusReason)
  return sentence === undefined ? detail : `${sentence} ${detail}`
}

/** Returns true for a `status_reason` that begins with such a refusal, of another attempt than `included`. Pure. */
export function tellsFallBack(statusReason: string | undefined, included?: number): boolean {
  const [, refused] = FALL_BACK.exec(statusReason ?? '') ?? []
  return refused !== undefined && Number(refused) !== included
}
