import { AppError } from '../errors.ts'
import { type Clock, systemClock } from '../lib/time.ts'
import type { Logger } from '../log.ts'

/**
 * Classification of errors of both drivers. Both have the SQLSTATE in `code`, and the name of the violated
 * constraint.
 */

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

/** Messages of node-postgres and Kysely about lost connections that have no code. */
const CONNECTION_LOST =
  /^(Connection terminated|Postgres connection has been discarded|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired)/

/** Returns true if a row with this key exists already; with `constraint`, only for exactly that index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== UNIQUE_VIOLATION) return false
  return constraint === undefined || (error as { constraint?: unknown }).constraint === constraint
}

/**
 * Returns true if the statement may be tried again: after a serialization failure, a deadlock, or a lost
 * connection. After a lost connection the result of a commit is unknown, so repeat only work that is guarded
 * against a second run.
 */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error)
  if (isParsedBefore(error)) return true
  if (code !== undefined)
    return RETRYABLE_STATES.has(code) || RETRYABLE_ERRNOS.has(code) || code.startsWith('08')
  return error instanceof Error && CONNECTION_LOST.test(error.message)
}

/**
 * Returns true if a statement was parsed before a table of it changed, as by the migration of a newer release
 * (feature_not_supported). The same statement succeeds when it is parsed again.
 */
export function isParsedBefore(error: unknown): boolean {
  return (
    codeOf(error) === '0A000' &&
    error instanceof Error &&
    error.message.startsWith('cached plan must not change')
  )
}

/** SQLSTATE of a write on a server, or in a session, that only reads (read_only_sql_transaction). */
const READ_ONLY = '25006'

/** Returns true if the server is read-only, so that a write must go to another one. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY
}

/**
 * Errors of a server that could not be reached or used. A node or a receiver that is away has errors of the
 * same kind.
 */
const away = new WeakSet<object>()

/** Notes an error with which a connection failed, or was lost, for `explainAway`. */
export function noteAway(error: unknown): void {
  if (typeof error === 'object' && error !== null) away.add(error)
}

/**
 * A caller may retry after this time, in s: a failover takes some seconds, and each retry tries the database
 * again.
 */
const TRY_AGAIN_S = 1

/** Gives the failure for a request that could not use the database; undefined for any other error. */
export function explainAway(error: unknown): AppError | undefined {
  if (typeof error !== 'object' || error === null || !away.has(error)) return undefined
  return new AppError(
    'database_unavailable',
    'The database of the service cannot be reached. A change may still have taken effect; check before you repeat it.',
    { cause: error, retryAfterSeconds: TRY_AGAIN_S },
  )
}

/** SQLSTATE codes of a conflict between two transactions, which a server that works reports. */
const CONFLICTS = new Set(['40001', '40P01', '55P03'])

/**
 * Returns true if the server has rolled the transaction back, and asks to repeat it from its start: for
 * another transaction, or because it was parsed before a table changed.
 */
export function isRolledBack(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40001' || code === '40P01' || isParsedBefore(error)
}

/**
 * Returns true if an error of a statement says that the server is going away, was lost, or has become
 * read-only.
 */
export function isAway(error: unknown): boolean {
  return isReadOnly(error) || (isRetryable(error) && !CONFLICTS.has(codeOf(error) ?? ''))
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The pause between two attempts, in ms. */
const PAUSE_MS = 500

/** The time between two log lines, in ms. */
const LOG_EVERY_MS = 5_000

/** The reasons in words for which a statement waits on a server that works. */
const BLOCKERS = {
  standby: 'no commit ends, because no synchronous standby confirms it',
  lock: 'another transaction has a lock',
} as const

/** The server answers, and work has made no progress for too long. */
class BlockedError extends Error {
  override readonly name = 'BlockedError'
}

interface WaitOptions {
  /**
   * The time in ms after the first failure for which a server that cannot be reached is awaited; 0 for one
   * attempt.
   */
  readonly waitMs: number
  /** The words for the work in the log, such as "a connection". */
  readonly what: string
  /**
   * Returns what holds up statements on the server. Work that it holds up for `waitMs` fails. Default:
   * nothing.
   */
  readonly blockedBy?: (() => keyof typeof BLOCKERS | undefined) | undefined
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  readonly log: Logger
  readonly clock?: Clock
}

/**
 * Does work that needs the server, and repeats it while the server cannot be reached or the connection is
 * lost: the service and its database are often started at the same time. A lost connection does not show
 * whether the server did the work, so the work must be safe to repeat. Rejects with the error of the last
 * attempt, and immediately with an error that waiting does not solve, such as a wrong password. Work that a
 * server carries out may take any time, as a migration of many rows; work that waits on it is bounded.
 */
export async function waitForServer<T>(work: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { waitMs, what, signal, log, clock = systemClock } = options
  let end: number | undefined
  let logAt = 0
  for (;;) {
    try {
      return await unlessBlocked(work(), options)
    } catch (error) {
      const now = clock.now()
      end ??= now + waitMs
      if (!isRetryable(error) || now >= end || signal?.aborted) throw error
      if (now >= logAt) {
        log.warn(
          { err: error, waiting_for: what, seconds_left: Math.ceil((end - now) / 1000) },
          'database not reachable; retrying',
        )
        logAt = now + LOG_EVERY_MS
      }
      await clock.sleep(Math.min(PAUSE_MS, end - now), signal)
    }
  }
}

/**
 * Fails when the server has held the work up for `waitMs` without a break, and says in the log what the work
 * waits for.
 */
async function unlessBlocked<T>(
  work: Promise<T>,
  { waitMs, what, blockedBy = () => undefined, log, clock = systemClock }: WaitOptions,
): Promise<T> {
  const over = new AbortController()
  const watch = async (): Promise<never> => {
    let since: number | undefined
    for (let looks = 1; ; looks += 1) {
      await clock.sleep(PAUSE_MS, over.signal)
      if (over.signal.aborted) return new Promise(() => {})
      const blocker = blockedBy()
      const now = clock.monotonic()
      since = blocker === undefined ? undefined : (since ?? now)
      if (looks % (LOG_EVERY_MS / PAUSE_MS) === 0)
        log.warn(
          {
            waiting_for: what,
            ...(blocker && { reason: BLOCKERS[blocker] }),
            seconds: (looks * PAUSE_MS) / 1000,
          },
          'database has not answered yet; waiting',
        )
      if (blocker !== undefined && since !== undefined && now - since >= waitMs)
        throw new BlockedError(`The database does not get on with ${what}: ${BLOCKERS[blocker]}.`)
    }
  }
  // Work that is given up may fail later, and no one waits for it then.
  work.catch(() => {})
  try {
    return await Promise.race([work, watch()])
  } finally {
    over.abort()
  }
}
