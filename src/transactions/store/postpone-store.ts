import { type Transaction as DbTransaction, sql } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { Transaction } from '../model/transaction.ts'

/**
 * Writes when each of these is to be looked at again, and nothing else. That is no change of the record, so the version stays:
 * otherwise bytes that are offered each second would let nobody who needs longer than that write down what the chain decided.
 * What somebody changed meanwhile keeps its own time.
 */
export async function postponeTransactions(
  tx: DbTransaction<Schema>,
  transactions: readonly Transaction[],
): Promise<void> {
  if (transactions.length === 0) return
  const records = transactions.map(({ id, version, nextRunAt }) => ({ id, version, next_run_at: nextRunAt }))
  await sql`
    update transactions t set next_run_at = record.next_run_at
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
      as record (id text, version integer, next_run_at timestamptz)
    where t.id = record.id and t.version = record.version`.execute(tx)
}
