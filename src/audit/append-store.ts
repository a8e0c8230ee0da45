import { sql, type Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { type AuditEntry, type AuditedChange, MANAGEMENT_CHAIN, type StoredEntry } from './entry.ts'
import { entryFields } from './entry-fields.ts'
import { entryHash, FIRST_HASH } from './entry-hash.ts'
import { toLoggable } from './loggable.ts'

type Tx = Transaction<Schema>

/** The end of a chain. */
interface Head {
  readonly number: bigint
  readonly hash: Uint8Array
  /** The time of the database, in whole milliseconds. */
  readonly now: Date
}

/**
 * Appends changes to a chain of the log, in the database transaction that makes them: both are committed, or neither. Call it last, because
 * it locks the end of the chain until the commit; one database transaction appends to one chain only, so that no two can wait for each other.
 */
export async function appendEntries(tx: Tx, chain: string, changes: readonly AuditedChange[]): Promise<void> {
  if (changes.length === 0) return
  const head = await lockHead(tx, chain)
  const entries = link(chain, head, changes)
  const last = entries.at(-1)
  if (last === undefined) return
  await sql`
    with added as (
      insert into audit_log (chain, number, at, actor, address, request_id, action, target_type, target_id, before, after, hash)
      select ${chain}, number, ${head.now}::timestamptz, actor, address, request_id, action, target_type, target_id, before, after, hash
      from jsonb_to_recordset(${JSON.stringify(entries.map(toRecord))}::jsonb) as entry (
        number bigint, actor text, address text, request_id text, action text, target_type text, target_id text,
        before jsonb, after jsonb, hash bytea)
    )
    update audit_chains set number = ${last.number}, hash = ${last.hash} where chain = ${chain}`.execute(tx)
}

/** Appends a change to the chain of everything but what relayers send and sign, as `appendEntries`. */
export async function appendManagement(tx: Tx, ...changes: readonly AuditedChange[]): Promise<void> {
  await appendEntries(tx, MANAGEMENT_CHAIN, changes)
}

async function lockHead(tx: Tx, chain: string): Promise<Head> {
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

function findHead(tx: Tx, chain: string): Promise<Head | undefined> {
  return tx
    .selectFrom('audit_chains')
    .select(['number', 'hash', sql<Date>`clock_timestamp()::timestamptz(3)`.as('now')])
    .where('chain', '=', chain)
    .forUpdate()
    .executeTakeFirst()
}

function link(chain: string, head: Head, changes: readonly AuditedChange[]): StoredEntry[] {
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
