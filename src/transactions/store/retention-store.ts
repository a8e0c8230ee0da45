import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { addToCounts, isFinal } from './finished-store.ts'

/**
 * The number of transactions that one statement reads and deletes, with all that belongs to them. A statement
 * blocks the embedded database while it runs, and on a server the counts of the relayer until its commit.
 */
const PAGE = 200

interface Deletion {
  /** Transactions that were accepted and final before this time are old. */
  readonly before: Date
  /** Called after this many deleted transactions, and at the end if more were deleted. */
  readonly afterMany: { readonly transactions: number; readonly work: () => Promise<void> }
  /** True ends the deletion early; the next one begins again. Default: never. */
  readonly isOver?: () => boolean
}

/**
 * Deletes old final transactions with their attempts, idempotency keys, approvals and operator decisions,
 * oldest first for each account, and returns their number. Kept longer are a transaction whose block was
 * lost, one that others wait for, one with a stored event or an unsettled budget, and the highest nonce of an account, which explains
 * what the chain has used.
 */
export async function deleteOldTransactions(
  db: Db,
  { before, afterMany, isOver = () => false }: Deletion,
): Promise<number> {
  let total = 0
  let since = 0
  const work = async () => {
    if (since > 0) await afterMany.work()
    since = 0
  }
  const accounts = await db.selectFrom('relayers').select('id').orderBy('id').execute()
  for (const { id } of accounts) {
    for (let after: bigint | undefined = 0n; after !== undefined && !isOver(); ) {
      const page = await deletePage(db, { before, relayerId: id, after })
      total += page.deleted
      since += page.deleted
      after = page.next
      if (since >= afterMany.transactions) await work()
    }
  }
  await work()
  return total
}

interface Page {
  readonly deleted: number
  /** The place after which the next page begins; undefined if it has no old transaction. */
  readonly next: bigint | undefined
}

async function deletePage(
  db: Db,
  { before, relayerId, after }: { readonly before: Date; readonly relayerId: string; readonly after: bigint },
): Promise<Page> {
  // One old transaction in the page is enough to continue: one that was accepted before a later one can have
  // a later time. The order of the counts is that of all writers.
  const { rows } = await sql<{ deleted: bigint; next: bigint | null }>`
    with page as materialized (
      select id, position, network, source_account, nonce, status, confirmed_at, reorganized_at, reset_at, created_at < ${before} as is_old
      from transactions where relayer_id = ${relayerId} and position > ${after} order by position limit ${PAGE}),
    old as materialized (
      select id, position from page
      where is_old and ${isFinal(sql`status`)} and reorganized_at is null and (confirmed_at is null or confirmed_at < ${before})
        and not exists (select from events where events.transaction_id = page.id)
        and not exists (select from transactions waiting where waiting.awaits_transaction = page.id)
        and not exists (select from spendings where spendings.transaction_id = page.id and not settled)
        and (nonce is null or reset_at is not null or exists (
          select from transactions later
          where later.relayer_id = ${relayerId} and later.network = page.network and later.source_account = page.source_account
            and later.nonce > page.nonce and later.reset_at is null))),
    without_attempts as (delete from attempts using old where attempts.transaction_id = old.id),
    without_terms as (delete from transaction_terms using old where transaction_terms.position = old.position),
    without_decisions as (delete from operator_decisions using old where operator_decisions.transaction_id = old.id),
    gone as (
      delete from transactions using old where transactions.id = old.id
      returning transactions.relayer_id, transactions.status),
    counted as (${addToCounts(sql`select relayer_id, status from gone`, -1)})
    select (select count(*) from gone) as deleted, (select max(position) from page having bool_or(is_old)) as next`.execute(
    db,
  )
  const [row] = rows
  return { deleted: Number(row?.deleted ?? 0n), next: row?.next ?? undefined }
}
