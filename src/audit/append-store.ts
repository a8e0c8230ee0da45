import { sql } from 'kysely'
import type { Tx } from '../database/db.ts'
import { storableText } from '../database/sql-helpers.ts'
import { mapFields, slicesOf } from '../lib/object.ts'
import {
  type AuditEntry,
  type AuditedChange,
  entryFields,
  entryHash,
  FIRST_HASH,
  MANAGEMENT_LOG,
  type Person,
  type StoredEntry,
} from './entry.ts'

/**
 * The most entries of one statement. The embedded database keeps for ever what it once needed for one, about
 * 3 kB for each entry.
 */
const MAX_ENTRIES = 500

/** The end of a chain. */
interface LogHead {
  readonly number: bigint
  readonly hash: Uint8Array
  /** The time of the database when it was read, in whole milliseconds. */
  readonly now: Date
}

/** The columns of a `ChainHead`, from `audit_chains`. */
const HEAD_COLUMNS = sql`number, hash, clock_timestamp()::timestamptz(3) as now`

/**
 * Appends changes to a chain of the log, in the database transaction that makes them: both are committed, or
 * neither. Call it last, because it locks the end of the chain until the commit; on a server one database
 * transaction appends to one chain only (`database/locks/lock-order.md`).
 */
export async function appendEntries(tx: Tx, chain: string, changes: readonly AuditedChange[]): Promise<void> {
  for (const slice of slicesOf(changes, MAX_ENTRIES)) {
    const head = await lockHead(tx, chain)
    await appendAfter(tx, chain, { head, changes: slice })
  }
}

/** Appends entries after the end of the chain, which the same database transaction has locked. */
async function appendAfter(
  tx: Tx,
  chain: string,
  { head, changes }: { readonly head: LogHead; readonly changes: readonly AuditedChange[] },
): Promise<void> {
  const entries = link(chain, head, changes)
  const last = entries.at(-1)
  if (last === undefined) return
  const { rows } = await sql`
    with moved as (
      update audit_chains set number = ${last.number}, hash = ${last.hash}
      where chain = ${chain} and number = ${head.number} returning chain
    ), added as (
      insert into audit_log (chain, number, at, actor, person, address, request_id, action, target_type, target_id, before, after, hash)
      select moved.chain, number, ${head.now}::timestamptz, actor, person, address, request_id, action, target_type, target_id, before, after, hash
      from moved cross join jsonb_to_recordset(${JSON.stringify(entries.map(toRecord))}::jsonb) as entry (
        number bigint, actor text, person jsonb, address text, request_id text, action text, target_type text, target_id text,
        before jsonb, after jsonb, hash bytea)
    )
    select chain from moved`.execute(tx)
  if (rows.length === 0)
    throw new Error(`the end of the chain ${chain} of the audit log moved while it was locked`)
}

/** Appends a change to the chain of everything but what relayers send and sign, as `appendEntries`. */
export async function appendManagement(tx: Tx, ...changes: readonly AuditedChange[]): Promise<void> {
  await appendEntries(tx, MANAGEMENT_LOG, changes)
}

async function lockHead(tx: Tx, chain: string): Promise<LogHead> {
  const head = await findHead(tx, chain)
  if (head !== undefined) return head
  await tx
    .insertInto('audit_chains')
    .values({ chain, number: 0n, hash: FIRST_HASH })
    .onConflict((conflict) => conflict.column('chain').doNothing())
    .execute()
  const created = await findHead(tx, chain)
  if (created === undefined) throw new Error(`the chain ${chain} of the audit log has no end`)
  return created
}

async function findHead(tx: Tx, chain: string): Promise<LogHead | undefined> {
  const { rows } = await sql<LogHead>`
    select ${HEAD_COLUMNS} from audit_chains where chain = ${chain} for update`.execute(tx)
  return rows[0]
}

function link(chain: string, head: LogHead, changes: readonly AuditedChange[]): StoredEntry[] {
  let { number, hash } = head
  return changes.map((change) => {
    number += 1n
    const entry = { ...toEntry(change), chain, number, at: head.now }
    hash = entryHash(hash, entry)
    return { ...entry, hash }
  })
}

function toEntry({
  author,
  action,
  target,
  before,
  after,
}: AuditedChange): Omit<AuditEntry, 'chain' | 'number' | 'at'> {
  return {
    actor: author.keyId,
    person: author.person && (toLoggable(author.person) as Person),
    address: author.address,
    requestId: author.requestId,
    action,
    targetType: target.type,
    targetId: target.id,
    before: before && (toLoggable(before) as object),
    after: after && (toLoggable(after) as object),
  }
}

function toRecord(entry: StoredEntry) {
  return { ...entryFields(entry), hash: `\\x${Buffer.from(entry.hash).toString('hex')}` }
}

/**
 * Converts a value to JSON that jsonb returns unchanged, so that its hash can be computed again: integers of
 * any size become decimal digits.
 */
function toLoggable(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return storableText(value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(toLoggable)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(mapFields(value, toLoggable))
  return Object.fromEntries(fields.map(([name, one]) => [storableText(name), one]))
}
