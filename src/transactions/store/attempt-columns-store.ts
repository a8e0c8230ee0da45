import { sql } from 'kysely'

// The acceptance of the first attempt and the inclusion of the current one are in the row of their transaction, which is written at that moment
// anyway. Whatever else happens to an attempt is in its own row.

/** The outcome of the attempt `a` of the transaction `t`. */
export const OUTCOME = sql<string>`(case
  when a.number = t.current_attempt and t.included_outcome is not null then t.included_outcome
  when a.number = t.accepted_attempt and a.outcome = 'signed' then 'broadcast'
  else a.outcome end)`

/** The time when a node accepted the attempt `a` of the transaction `t`. */
export const BROADCAST_AT = sql<Date | null>`coalesce(a.broadcast_at, case when a.number = t.accepted_attempt then t.sent_at end)`

/** The result of the inclusion of the attempt `a` of the transaction `t`. */
export const RESULT = sql<object | null>`(case
  when a.number = t.current_attempt and t.included_outcome is not null then coalesce(t.included_result, a.result)
  else a.result end)`

const OTHER_COLUMNS = sql`a.transaction_id, a.number, a.kind, a.hash, a.inner_hash, a.raw, a.draft, a.signature, a.error, a.refusals, a.signed_at,
  ${OUTCOME} as outcome, ${BROADCAST_AT} as broadcast_at, ${RESULT} as result`

/** The columns of an `AttemptRow`, from the attempt `a` of the transaction `t`. */
export const ATTEMPT_COLUMNS = sql`a.source_account, a.nonce, ${OTHER_COLUMNS}`

/** The columns of an `AttemptRow` beside those of its transaction, which has a source account and a nonce of its own. */
export const ATTEMPT_COLUMNS_BESIDE = sql`a.source_account as attempt_source_account, a.nonce as attempt_nonce, ${OTHER_COLUMNS}`
