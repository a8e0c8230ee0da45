import pg from 'pg'

/** The result of one look at a server. */
export type ServerView =
  | { readonly kind: 'silent' }
  /** It answers, and says nothing more: it refuses the connection, or is a relative of PostgreSQL. */
  | { readonly kind: 'answers' }
  | {
      readonly kind: 'seen'
      /** It accepts writes. */
      readonly takesWrites: boolean
      /**
       * The first eight digits of the names of its log files; absent for a standby. A promotion makes the
       * next higher one.
       */
      readonly timeline?: string | undefined
      readonly waits: Waits
    }

/** The statements of this process that wait on the server, by what they wait for. */
export interface Waits {
  /** Commits that a synchronous standby has not confirmed. */
  readonly standby: number
  /** Statements behind the lock of another transaction. */
  readonly lock: number
}

/**
 * The first eight digits of the name of a log file are its timeline (PostgreSQL manual, 26.3.5 "Timelines").
 */
export const TIMELINE = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'

const LOOK = `
  select current_setting('transaction_read_only') = 'off' as writes,
    case when not pg_is_in_recovery() then ${TIMELINE} end as timeline,
    (select count(*)::integer from pg_stat_activity where pid = any($1::integer[]) and wait_event = 'SyncRep') as standby,
    (select count(*)::integer from pg_stat_activity where pid = any($1::integer[]) and wait_event_type = 'Lock') as lock`

interface LookRow {
  readonly writes: boolean
  readonly timeline: string | null
  readonly standby: number
  readonly lock: number
}

/** A server to look at. */
export interface LookOptions {
  /** Leads to this server alone. */
  readonly url: string
  readonly timeoutMs: number
  /** The ids that the server gave to connections of this process. Behind a pooler they match none. */
  readonly processIds: readonly number[]
}

/** Looks at a server over a new connection, which no statement of the service can hold up. */
export async function lookAt({ url, timeoutMs, processIds }: LookOptions): Promise<ServerView> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'relayer',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<LookRow>(LOOK, [processIds])
    const [row] = rows
    if (row === undefined) return { kind: 'answers' }
    const { writes: takesWrites, timeline, standby, lock } = row
    return { kind: 'seen', takesWrites, timeline: timeline ?? undefined, waits: { standby, lock } }
  } catch (error) {
    return { kind: error instanceof pg.DatabaseError ? 'answers' : 'silent' }
  } finally {
    // Errors of the end say nothing more about the server.
    client.end().catch(() => {})
  }
}

/**
 * Returns the index of the server that accepts writes and has the newest timeline; undefined if none is known
 * to accept writes. Of several with that timeline, as through several poolers, it is the first one, beginning
 * with `preferred`. Pure.
 */
export function newestWriter(views: readonly ServerView[], preferred: number): number | undefined {
  const order = views.map((_, index) => (preferred + index) % views.length)
  let best: { readonly index: number; readonly timeline: string } | undefined
  for (const index of order) {
    const view = views[index]
    if (view?.kind !== 'seen' || !view.takesWrites || view.timeline === undefined) continue
    if (best === undefined || view.timeline > best.timeline) best = { index, timeline: view.timeline }
  }
  return best?.index
}
