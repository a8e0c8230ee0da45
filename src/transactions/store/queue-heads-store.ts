import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { Transaction } from '../model/transaction.ts'
import { type TransactionRow, toTransaction } from './codec.ts'

/**
 * The transactions that everything else of their account waits for: of each source account the lowest nonce that is signed and not mined,
 * and of each relayer the first that is to be signed, without those that others may overtake already. Relayers that sign nothing at
 * present are left out.
 */
export async function findQueueHeads(db: Kysely<Schema>): Promise<Transaction[]> {
  const { rows } = await sql<TransactionRow>`
    select signed.* from (
      select distinct on (t.relayer_id, t.source_account) t.* from transactions t
      where t.status in ('sent', 'submitted') and t.nonce is not null
      order by t.relayer_id, t.source_account, t.nonce) signed
    union all
    select pending.* from relayers r
    cross join lateral (
      select t.* from transactions t
      where t.relayer_id = r.id and t.status = 'pending' and (t.stuck_since is null or t.nonce is not null)
      order by t.nonce nulls last, t.position limit 1) pending
    where r.removed_at is null and not r.paused and not r.system_disabled`.execute(db)
  return rows.map(toTransaction)
}

/** Unnumbered transactions that others may overtake and that are due, in the order of acceptance. */
export async function findOvertaken(
  db: Kysely<Schema>,
  relayerId: string,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<Transaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .selectAll()
    .where('relayer_id', '=', relayerId)
    .where('status', '=', 'pending')
    .where('stuck_since', 'is not', null)
    .where('nonce', 'is', null)
    .where('next_run_at', '<=', now)
    .orderBy('position')
    .limit(limit)
    .execute()
  return rows.map(toTransaction)
}
