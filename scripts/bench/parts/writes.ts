import pg from 'pg'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { atLeast, type Measurement, type Row, single, withoutPostgres } from '../measurement.ts'
import { measureSink } from '../support/sink.ts'
import { measureSustained, withService } from '../support/stage.ts'

/** The statistics of a database so far. */
interface Writes {
  /** Inserted and updated rows. */
  readonly versions: number
  readonly updates: number
  /** Updates that wrote no index entry (heap-only tuples). */
  readonly hot: number
  readonly walBytes: number
  readonly commits: number
}

/** Connections report their statistics at most once a second (`PGSTAT_MIN_INTERVAL`). */
const SETTLE_MS = 1_500

const SEND =
  'send on PostgreSQL, one account, until the node has all; bare: presigned, pushed into the same node'
const LOST = 'send on PostgreSQL: lost'
const CPU = 'send on PostgreSQL: CPU per transaction, of the service'
const VERSIONS = 'writes per transaction: row versions'
const LOG = 'writes per transaction: log (WAL)'
const HOT = 'writes: updates without index entries (HOT)'
const COMMITS = 'writes per transaction: commits'

/** Sending on PostgreSQL, and the writes of one sent transaction, from acceptance to confirmation, as PostgreSQL counts them. */
export async function benchWrites({ transactions }: { transactions: number }): Promise<Row[]> {
  if (!hasPostgres()) return withoutPostgres(SEND, LOST, CPU, VERSIONS, LOG, HOT, COMMITS)
  const postgres = await startPostgres()
  try {
    const sinkBefore = await measureSink(transactions)
    const measured = await measure(await postgres.createDatabase(), transactions)
    const sink = (sinkBefore + (await measureSink(transactions))) / 2
    return rowsOf(measured, { sink, transactions })
  } finally {
    await postgres.stop()
  }
}

interface Measured {
  readonly sustained: Awaited<ReturnType<typeof measureSustained>>
  readonly before: Writes
  readonly after: Writes
}

async function measure(databaseUrl: string, transactions: number): Promise<Measured> {
  return withService({ way: 'direct', databaseUrl }, async (stage) => {
    const before = await readWrites(databaseUrl)
    const sustained = await measureSustained(stage, transactions)
    return { sustained, before, after: await readWrites(databaseUrl) }
  })
}

function rowsOf(
  { sustained, before, after }: Measured,
  { sink, transactions }: { readonly sink: number; readonly transactions: number },
): Measurement[] {
  return [
    {
      what: SEND,
      ours: `${sustained.perSecond.toFixed(0)} /s`,
      bare: `${sink.toFixed(0)} /s`,
      value: sustained.perSecond / sink,
      goal: atLeast(0.55),
    },
    single(LOST, sustained.lost, { unit: '', limit: 0 }),
    single(CPU, sustained.cpuMs, { unit: 'ms', digits: 2, limit: 0.4 }),
    ...compare(before, after, transactions),
  ]
}

function compare(before: Writes, after: Writes, count: number): Measurement[] {
  const each = (key: keyof Writes) => (after[key] - before[key]) / count
  const [versions, wal, commits] = [each('versions'), each('walBytes') / 1024, each('commits')]
  const hot = (100 * each('hot')) / each('updates')
  return [
    single(VERSIONS, versions, { unit: '', digits: 1, limit: 11 }),
    single(LOG, wal, { unit: 'kB', digits: 1, limit: 7 }),
    { what: HOT, ours: `${hot.toFixed(0)} %`, value: hot, goal: atLeast(80, '%') },
    single(COMMITS, commits, { unit: '', digits: 2 }),
  ]
}

async function readWrites(databaseUrl: string): Promise<Writes> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<Record<keyof Writes, string>>(`
      select sum(n_tup_ins + n_tup_upd) as "versions", sum(n_tup_upd) as "updates", sum(n_tup_hot_upd) as "hot",
        (select wal_bytes from pg_stat_wal) as "walBytes",
        (select xact_commit from pg_stat_database where datname = current_database()) as "commits"
      from pg_stat_user_tables`)
    const [row] = rows
    if (row === undefined) throw new Error('PostgreSQL gave no statistics.')
    const { versions, updates, hot, walBytes, commits } = row
    return {
      versions: Number(versions),
      updates: Number(updates),
      hot: Number(hot),
      walBytes: Number(walBytes),
      commits: Number(commits),
    }
  } finally {
    await client.end()
  }
}
