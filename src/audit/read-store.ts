import { type Selectable, sql } from 'kysely'
import type { Db } from '../database/db.ts'
import { storableText } from '../database/sql-helpers.ts'
import type { AuditLogTable } from '../database/tables/access.ts'
import type { EntryPosition, Person, StoredEntry } from './entry.ts'

/** Selects entries. An absent field selects all. */
interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly targetType?: string | undefined
  readonly targetId?: string | undefined
  readonly requestId?: string | undefined
  /** The earliest time, included. */
  readonly from?: Date | undefined
  /** The end of the time, excluded. */
  readonly to?: Date | undefined
}

interface PageQuery extends AuditFilter {
  /** The entry after which the page begins. */
  readonly before?: StoredEntry | undefined
  readonly limit: number
}

/**
 * Finds which of these bytes, by SHA-256 in hex, are transactions that the service has signed for a caller to
 * broadcast.
 */
export async function findSignedTransactions(db: Db, sha256s: readonly string[]): Promise<Set<string>> {
  if (sha256s.length === 0) return new Set()
  const { rows } = await sql<{ sha256: string }>`
    select after->>'sha256' as sha256 from audit_log
    where action = 'signTransaction' and after->>'sha256' = any(${sha256s}::text[])`.execute(db)
  return new Set(rows.map(({ sha256 }) => sha256))
}

/**
 * Lists entries, newest first; those of one time in the order of chains and numbers. Later entries do not
 * move the pages after one.
 */
export async function listEntries(db: Db, query: PageQuery): Promise<StoredEntry[]> {
  const { before, from, to } = query
  let found = db.selectFrom('audit_log').selectAll()
  if (query.actor !== undefined) found = found.where('actor', '=', query.actor)
  if (query.action !== undefined) found = found.where('action', '=', query.action)
  if (query.targetType !== undefined) found = found.where('target_type', '=', query.targetType)
  // PostgreSQL refuses some texts that a query can have; no entry has them.
  if (query.targetId !== undefined) found = found.where('target_id', '=', storableText(query.targetId))
  if (query.requestId !== undefined) found = found.where('request_id', '=', query.requestId)
  if (from !== undefined) found = found.where('at', '>=', timeOf(from))
  if (to !== undefined) found = found.where('at', '<', timeOf(to))
  if (before !== undefined)
    found = found
      .where('at', '<=', before.at)
      .where(
        sql<boolean>`(at, chain, number) < (${before.at}::timestamptz, ${before.chain}, ${before.number}::bigint)`,
      )
  const rows = await found
    .orderBy('at', 'desc')
    .orderBy('chain', 'desc')
    .orderBy('number', 'desc')
    .limit(query.limit)
    .execute()
  return rows.map(toEntry)
}

/** Finds one entry; undefined if there is none. */
export async function findEntry(db: Db, { chain, number }: EntryPosition): Promise<StoredEntry | undefined> {
  const row = await db
    .selectFrom('audit_log')
    .selectAll()
    .where('chain', '=', chain)
    .where('number', '=', number)
    .executeTakeFirst()
  return row && toEntry(row)
}

/** Converts a row to an entry. */
function toEntry(row: Selectable<AuditLogTable>): StoredEntry {
  return {
    chain: row.chain,
    number: row.number,
    at: row.at,
    actor: row.actor,
    // The service wrote it itself.
    person: (row.person as Person | null) ?? undefined,
    address: row.address ?? undefined,
    requestId: row.request_id ?? undefined,
    action: row.action,
    targetType: row.target_type,
    targetId: row.target_id,
    before: row.before ?? undefined,
    after: row.after ?? undefined,
    hash: row.hash,
  }
}

/** PostgreSQL does not read every year that RFC 3339 can write. */
function timeOf(date: Date) {
  return sql<Date>`to_timestamp(${date.getTime()}::double precision / 1000)`
}

/** The end of a chain as the database has it; `number` and `hash` are undefined if its record is missing. */
export interface StoredHead {
  readonly chain: string
  readonly number: bigint | undefined
  readonly hash: Uint8Array | undefined
}

/** The number of entries per read. It bounds the memory. */
const PAGE = 1_000

/**
 * Reads the ends of all chains, and the names of chains that have entries and no end, in the order of the
 * names.
 */
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

/** Runs the work on one snapshot of the database, while the service keeps writing. */
export function onSnapshot<T>(db: Db, work: (snapshot: Db) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
}
