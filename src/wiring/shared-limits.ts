import type { Logger } from 'pino'
import { deleteFull, takeShared } from '../access/rate-limits-store.ts'
import type { Database } from '../database/db.ts'
import { isLimitOfKey } from '../http/auth.ts'
import { createRateLimiter, type RateLimiter } from '../http/rate-limit.ts'
import type { Clock } from '../lib/time.ts'
import { createLoop, type Loop } from '../workers/loop.ts'

/**
 * Time in ms between two exchanges. What another process allows in this time is allowed beside the rate,
 * once.
 */
const EXCHANGE_MS = 250

/**
 * Tokens taken over a longer interval (seconds) are not reported: the database was unreachable, and each
 * process counted on its own.
 */
const LONGEST_SECONDS = 5

/** Time in ms between two deletions of obsolete rows. */
const DELETE_EVERY_MS = 60_000

interface SharedLimitsOptions {
  readonly database: Database
  readonly rateLimit: { readonly perSecond: number; readonly burst: number }
  readonly clock: Clock
  readonly log: Logger
}

interface SharedLimits {
  readonly limiter: RateLimiter
  /** Exchanges with the other processes; none if there cannot be another one. */
  readonly loops: readonly Loop[]
}

/**
 * Creates the rate limit of this process. A request takes from the bucket in memory and never waits for the
 * database; a loop reports to the database what API keys have taken, and reads what is left of their buckets.
 * Callers without a key count separately in each process, so that no one can fill the table with addresses.
 */
export function createSharedLimits({ database, rateLimit, clock, log }: SharedLimitsOptions): SharedLimits {
  if (database.engine === 'pglite') return { limiter: createRateLimiter({ ...rateLimit, clock }), loops: [] }
  const { db } = database
  const limiter = createRateLimiter({ ...rateLimit, clock, isShared: isLimitOfKey })
  let deletedAt = clock.monotonic()

  async function exchange(): Promise<void> {
    const { tokens, seconds, at } = limiter.collect()
    if (tokens.size === 0 || seconds > LONGEST_SECONDS) return
    const left = await takeShared(db, { ...rateLimit, tokens, seconds })
    for (const [key, remaining] of left) limiter.lower(key, { tokens: remaining, at })
  }

  async function deleteSometimes(): Promise<void> {
    if (clock.monotonic() - deletedAt < DELETE_EVERY_MS) return
    await deleteFull(db, rateLimit)
    deletedAt = clock.monotonic()
  }

  const work = async () => {
    await exchange()
    await deleteSometimes()
  }
  return { limiter, loops: [createLoop({ name: 'rate-limits', intervalMs: EXCHANGE_MS, clock, log, work })] }
}
