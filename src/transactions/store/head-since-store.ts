import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { Transaction } from '../model/transaction.ts'

/**
 * When the transaction before this one in its line was found in a block, so that this one came first; undefined where none was before
 * it, or its event is no longer kept.
 */
export async function findHeadSince(
  db: Kysely<Schema>,
  { relayerId, sourceAccount, nonce }: Transaction,
): Promise<Date | undefined> {
  if (nonce === undefined || sourceAccount === undefined) return undefined
  const row = await db
    .selectFrom('transactions')
    .innerJoin('events', 'events.transaction_id', 'transactions.id')
    .select('events.created_at')
    .where('transactions.relayer_id', '=', relayerId)
    .where('transactions.source_account', '=', sourceAccount)
    .where('transactions.nonce', '=', nonce - 1n)
    .where(sql<boolean>`events.payload ->> 'status' = 'mined'`)
    .orderBy('events.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}
