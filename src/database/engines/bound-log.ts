import { type Kysely, sql } from 'kysely'

/** The write-ahead log that a start would have to replay may grow to this size, in bytes; one more second of writing is added to it. */
const LONGEST_LOG_BYTES = 16 * 1024 * 1024

/** Time in ms between two looks at the log. */
const INTERVAL_MS = 1_000

/**
 * Makes a checkpoint whenever the write-ahead log has become long, until the returned function is called. The engine makes none by itself,
 * because it has no background processes: the log, and the time of a start after a kill, would grow without limit.
 */
export function boundLog<Schema>(db: Kysely<Schema>): () => void {
  let isBusy = false
  const timer = setInterval(async () => {
    if (isBusy) return
    isBusy = true
    try {
      await checkpointIfLong(db)
    } catch {
      // A database that cannot write says so to everybody who uses it.
    } finally {
      isBusy = false
    }
  }, INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

async function checkpointIfLong<Schema>(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ bytes: string }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::text as bytes from pg_control_checkpoint()`.execute(
    db,
  )
  if (Number(rows[0]?.bytes) > LONGEST_LOG_BYTES) await sql`checkpoint`.execute(db)
}
