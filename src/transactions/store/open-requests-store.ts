import type { Kysely } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { Purpose, TransactionStatus } from '../model/transaction.ts'
import { REPLACEABLE_STATUSES } from '../model/transitions.ts'

/** What a caller asked for and nobody has called off. The others are no-ops, or the service's own. */
const WANTED: readonly Purpose[] = ['request', 'successor']

/**
 * Ids of the relayer's transactions that can still be called off, newest first, and how many there are beyond the limit
 * or not.
 */
export async function findOpenRequests(
  db: Kysely<Schema>,
  relayerId: string,
  limit: number,
): Promise<{ ids: string[]; total: number }> {
  const rows = await db
    .selectFrom('transactions')
    .select((eb) => ['id', eb.fn.countAll<bigint>().over().as('total')] as const)
    .where('relayer_id', '=', relayerId)
    .where('status', 'in', REPLACEABLE_STATUSES as TransactionStatus[])
    .where('purpose', 'in', WANTED as Purpose[])
    .orderBy('position', 'desc')
    .limit(limit)
    .execute()
  return { ids: rows.map(({ id }) => id), total: Number(rows[0]?.total ?? 0n) }
}
