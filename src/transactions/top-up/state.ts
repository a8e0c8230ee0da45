import type { ErrorCode } from '../../errors.ts'

/** Every state of a top-up; the contract lists the same. */
export const TOP_UP_STATES = ['enough', 'pending', 'limit_reached', 'waiting', 'refused'] as const

/**
 * What the service last decided about a relayer that another one fills. `enough`: the balance is not below the rule · `pending`: a payment is
 * not final · `limit_reached`: nothing is left of the amount of 24 hours · `waiting`: the last payment did not succeed, and the next one
 * follows later · `refused`: the treasury may not or cannot pay, and is asked again later.
 */
export interface TopUpState {
  readonly state: (typeof TOP_UP_STATES)[number]
  /** The code of the refusal. Its sentence stays in the log, because it tells about the treasury. */
  readonly code?: ErrorCode | undefined
  /** The payment that is pending, or did not succeed. */
  readonly transactionId?: string | undefined
  /** The service does not try again before this time. */
  readonly retryAt?: Date | undefined
}

/** A state as it is stored. */
export interface StoredTopUpState extends TopUpState {
  /** The number of refusals in a row. */
  readonly failures: number
}

/** The longest wait after a failure, in ms. Whoever fills the treasury should not wait longer for what follows. */
const LONGEST_WAIT_MS = 600_000

/** Returns the wait after so many failures in a row, in ms: it doubles from one interval of health checks. Pure. */
export function waitAfter(failures: number, intervalMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(failures - 1, 20), LONGEST_WAIT_MS)
}
