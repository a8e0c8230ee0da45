import { sql } from 'kysely'
import type { Db } from '../database/schema.ts'
import type { StoredEntry } from './entry.ts'
import { toEntry } from './read-store.ts'

/** The end of a chain as the database has it; `number` and `hash` are undefined when its record is missing. */
export interface StoredHead {
  readonly chain: string
  readonly number: bigint | undefined
  readonly hash: Uint8Array | undefined
}

/** The number of entries that are read at once. It bounds the memory. */
const PAGE = 1_000

/** Reads the ends of all chains, and the names of chains that have entries and no end, in the order of the names. */
export async function readHeads(db: Db): Promise<StoredHead[]> {
  const { rows } = await sql<{ chain: string; number: bigint | null; hash: Uint8Array | null }>`
    select chain, head.number, head.hash
    from (select chain from audit_chains union select distinct chain from audit_log) names
    left join audit_chains head using (chain) order by chain`.execute(db)
  return rows.map(({ chain, number, hash }) => ({
    chain,
    number: number ?? undefined,
    hash: hash ?? undefined,
  }))
}

/** Reads the entries of a chain in their order, page by page. */
export async function* readChain(db: Db, chain: string): AsyncGenerator<StoredEntry[]> {
  for (let after = -1n; ; ) {
    const rows = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('chain', '=', chain)
      .where('number', '>', after)
      .orderBy('number')
      .limit(PAGE)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(toEntry)
    after = last.number
  }
}

/** Runs the work on one unchanging view of the database, while the service goes on writing. */
export function onSnapshot<T>(db: Db, work: (snapshot: Db) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
}
