/** Classification of errors of both drivers. Both have the SQLSTATE in `code`, and the name of the violated constraint. */

const UNIQUE_VIOLATION = '23505'

/** SQLSTATE codes of errors after which the same statement may succeed. */
const RETRYABLE_STATES = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
])

/** Codes with which Node.js reports a lost connection. */
const RETRYABLE_ERRNOS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Messages of node-postgres about lost connections that have no code. */
const CONNECTION_LOST =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired)/

/** Returns true when a row with this key exists already; with `constraint`, only for exactly that index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== UNIQUE_VIOLATION) return false
  return constraint === undefined || (error as { constraint?: unknown }).constraint === constraint
}

/**
 * Returns true when the statement may be tried again: after a serialization failure, a deadlock, or a lost connection. After a lost
 * connection the result of a commit is unknown, so repeat only work that is guarded against a second run.
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
