import type { Db } from '../../database/schema.ts'
import type { ErrorCode } from '../../errors.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { oneOf } from '../../lib/one-of.ts'
import { type StoredTopUpState, TOP_UP_STATES } from './state.ts'

/** Reads what the service last decided; undefined before its first decision. */
export async function readTopUpState(db: Db, relayerId: string): Promise<StoredTopUpState | undefined> {
  const row = await db
    .selectFrom('top_ups')
    .selectAll()
    .where('relayer_id', '=', relayerId)
    .executeTakeFirst()
  return (
    row &&
    omitUndefined({
      state: oneOf(TOP_UP_STATES, row.state, 'state of a top-up'),
      // The service wrote the code itself.
      code: (row.code as ErrorCode | null) ?? undefined,
      transactionId: row.transaction_id ?? undefined,
      retryAt: row.retry_at ?? undefined,
      failures: row.failures,
    })
  )
}

/** Writes what the service has decided. It is a report: what may be paid follows from the stored transactions alone. */
export async function saveTopUpState(
  db: Db,
  relayerId: string,
  { state, code, transactionId, retryAt, failures }: StoredTopUpState,
): Promise<void> {
  const values = {
    state,
    code: code ?? null,
    transaction_id: transactionId ?? null,
    retry_at: retryAt ?? null,
    failures,
    changed_at: new Date(),
  }
  await db
    .insertInto('top_ups')
    .values({ relayer_id: relayerId, ...values })
    .onConflict((conflict) => conflict.column('relayer_id').doUpdateSet(values))
    .execute()
}
