/** What an error of either driver means. Both carry the SQLSTATE in `code` and the name of the broken constraint. */

const UNIQUE_VIOLATION = '23505'

/** SQLSTATE codes that say: nothing was wrong with the statement, the same one may succeed now. */
const RETRYABLE_STATES = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
])

/** Connection loss as Node reports it. */
const RETRYABLE_ERRNOS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** node-postgres has no code for these. */
const CONNECTION_LOST =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/

/** A row with this key exists already; with `constraint`, in exactly that index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== UNIQUE_VIOLATION) return false
  return constraint === undefined || (error as { constraint?: unknown }).constraint === constraint
}

/**
 * True when the statement may be tried again: serialization failure, deadlock, or a lost connection. After a lost
 * connection the outcome of a commit is unknown, so only work that is guarded against running twice may be repeated.
 */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== undefined)
    return RETRYABLE_STATES.has(code) || RETRYABLE_ERRNOS.has(code) || code.startsWith('08')
  return error instanceof Error && CONNECTION_LOST.test(error.message)
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
