import pg from 'pg'
import { hasPostgres, startPostgres } from '../../test/support/postgres.ts'
import { atLeast, atMost, type Measurement } from './measurement.ts'
import { measureSustained, withService } from './send.ts'

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

/** The writes of one sent transaction, from acceptance to confirmation, as PostgreSQL counts them. Nothing where none is installed. */
export async function benchWrites({ transactions }: { transactions: number }): Promise<Measurement[]> {
  if (!hasPostgres()) return []
  const postgres = await startPostgres()
  try {
    const databaseUrl = await postgres.createDatabase()
    return await withService({ way: 'direct', databaseUrl }, async (stage) => {
      const before = await readWrites(databaseUrl)
      const { perSecond, cpuMs, lost } = await measureSustained(stage, transactions)
      const after = await readWrites(databaseUrl)
      return [
        { what: 'send on PostgreSQL', ours: `${perSecond.toFixed(0)} /s`, value: perSecond },
        {
          what: 'send on PostgreSQL, CPU of the service',
          ours: `${cpuMs.toFixed(2)} ms`,
          value: cpuMs,
          budget: atMost(0.4, 'ms'),
        },
        { what: 'send on PostgreSQL, lost', ours: String(lost), value: lost, budget: atMost(0, '') },
        ...compare(before, after, transactions),
      ]
    })
  } finally {
    await postgres.stop()
  }
}

function compare(before: Writes, after: Writes, count: number): Measurement[] {
  const each = (key: keyof Writes) => (after[key] - before[key]) / count
  const [versions, wal, commits] = [each('versions'), each('walBytes') / 1024, each('commits')]
  const hot = (100 * each('hot')) / each('updates')
  return [
    {
      what: 'row versions per transaction',
      ours: versions.toFixed(1),
      value: versions,
      budget: atMost(11, ''),
    },
    { what: 'log (WAL) per transaction', ours: `${wal.toFixed(1)} kB`, value: wal, budget: atMost(7, 'kB') },
    {
      what: 'updates without index entries (HOT)',
      ours: `${hot.toFixed(0)} %`,
      value: hot,
      budget: atLeast(80, '%'),
    },
    { what: 'commits per transaction', ours: commits.toFixed(2), value: commits },
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
