import { sql } from 'kysely'
import type { Db } from '../database/db.ts'

/** The rate of each key, for all processes together. */
interface Rate {
  readonly perSecond: number
  /** The tokens of a full bucket. */
  readonly burst: number
}

/** The tokens that keys have taken in one process. */
export interface SpentTokens extends Rate {
  readonly tokens: ReadonlyMap<string, number>
  /** The time in which they were taken, in seconds. */
  readonly seconds: number
}

/**
 * Takes tokens from the shared buckets, and returns what is left in each: negative if processes together have
 * allowed too many requests. It takes the reported tokens even if a bucket goes negative. Refill follows the
 * database clock, so the long-run rate is exact.
 */
export async function takeShared(db: Db, spent: SpentTokens): Promise<Map<string, number>> {
  const { perSecond, burst, seconds, tokens } = spent
  // Tokens are taken all along a spending. Each of them makes room for what is refilled at that time, so a
  // bucket is full only up to the start of the spending, and the refill since then is netted with what was
  // taken.
  const refilled = perSecond * seconds
  const net = [...tokens.values()].map((taken) => taken - refilled)
  // In one order, so that two processes never wait for each other.
  const { rows } = await sql<{ key: string; tokens: number }>`
    insert into rate_limits as stored (key, tokens, filled_at)
    select key, ${burst}::float8 - net, now()
    from unnest(${[...tokens.keys()]}::text[], ${net}::float8[]) as spent (key, net) order by key
    on conflict (key) do update set
      tokens = least(${burst}::float8,
        least(${burst}::float8, stored.tokens + ${perSecond}::float8 * ${ELAPSED} - ${refilled}::float8)
          - (${burst}::float8 - excluded.tokens)),
      filled_at = case when ${IS_AHEAD} then excluded.filled_at else greatest(stored.filled_at, excluded.filled_at) end
    returning key, tokens`.execute(db)
  return new Map(rows.map((row) => [row.key, row.tokens]))
}

/**
 * Deletes the buckets that are full by now: a key without a row has a full one. Those that come into use
 * stay.
 */
export async function deleteFull(db: Db, { perSecond, burst }: Rate): Promise<void> {
  await sql`
    delete from rate_limits where key in (
      select key from rate_limits
      where tokens + ${perSecond}::float8 * extract(epoch from now() - filled_at) >= ${burst}::float8
      for update skip locked)`.execute(db)
}

/**
 * A time that far ahead was written while the clock of the database was ahead; another process waits for its
 * turn for less.
 */
const IS_AHEAD = sql`stored.filled_at > excluded.filled_at + interval '10 seconds'`

/** A statement that waited for another process can be older than what that one wrote. */
const ELAPSED = sql`greatest(0, extract(epoch from excluded.filled_at - stored.filled_at)::float8)`
