import { larger } from '../../lib/bigint.ts'
import type { Transaction } from '../model/transaction.ts'
import { isFinal } from '../model/transitions.ts'

/** The period of `max_per_day`, in ms. */
export const DAY_MS = 24 * 3_600_000

/** What is known of the earlier top-ups of a relayer. */
export interface TopUpHistory {
  /** The newest one, whatever became of it. A decision holds only as long as it is still the newest. */
  readonly newest: Transaction | undefined
  /** One that may still be included, or that left the chain after it was confirmed; no other top-up begins before it ends. */
  readonly open: Transaction | undefined
  /** The height of the last block that includes one: a node that has not reached it cannot tell the balance. */
  readonly asOf: bigint | undefined
  /** The number of those after the last confirmed one, which all ended without moving anything. */
  readonly failures: number
  /** The amount of the last 24 hours, those of `open` included, in the smallest unit. */
  readonly paid: bigint
}

/** Summarises top-ups, newest first: the newest one, and every other one that is open or of the last 24 hours. Pure. */
export function toHistory(
  transactions: readonly Transaction[],
  amountOf: (transaction: Transaction) => bigint,
  now: number,
): TopUpHistory {
  const confirmed = transactions.filter(({ status }) => status === 'confirmed')
  const lastConfirmed = transactions.findIndex(({ status }) => status === 'confirmed')
  const paying = transactions.filter((one) => isOpen(one) || (hasPaid(one) && now - timeOf(one) < DAY_MS))
  const heights = confirmed.flatMap(({ block }) => block?.number ?? [])
  return {
    newest: transactions[0],
    open: transactions.find(isOpen),
    asOf: heights.length === 0 ? undefined : heights.reduce(larger),
    failures: lastConfirmed === -1 ? transactions.length : lastConfirmed,
    paid: paying.reduce((sum, one) => sum + amountOf(one), 0n),
  }
}

function isOpen({ status, reorganizedAt }: Transaction): boolean {
  return !isFinal(status) || (status === 'confirmed' && reorganizedAt !== undefined)
}

function hasPaid({ status }: Transaction): boolean {
  return status === 'confirmed'
}

function timeOf({ confirmedAt, createdAt }: Transaction): number {
  return (confirmedAt ?? createdAt).getTime()
}
