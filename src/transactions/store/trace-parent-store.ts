import type { Db } from '../../database/schema.ts'

/** Reads the trace context of the request that created a transaction; undefined where there is none. */
export async function findTraceParent(db: Db, transactionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('transactions')
    .select('trace_parent')
    .where('id', '=', transactionId)
    .executeTakeFirst()
  return row?.trace_parent ?? undefined
}
