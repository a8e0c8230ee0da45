import type { Generated, JSONColumnType } from 'kysely'

/** Transactions that are sent again and again. */
export interface SchedulesTable {
  id: string
  /** As callers know it, which may choose among its accounts at each run. */
  relayer_id: string
  name: string | null
  cron: string
  /** A name of the IANA database. */
  timezone: string
  /** The content of each run, without times. */
  request: JSONColumnType<object>
  /** The same as its caller sees it. */
  body: JSONColumnType<object>
  valid_for_seconds: number | null
  missed: string
  overlap: string
  approval: string
  /** No time after this one counts. */
  ends_at: Date | null
  /** The schedule is over after this many transactions. */
  max_runs: number | null
  state: string
  state_reason: string | null
  /** In whose name it sends: an API key, or `root`. */
  api_key_id: string
  /** The user of the caller for whom it sends; null if the caller named none. */
  user_id: string | null
  /** The reasons that need, or had, one approval for all runs; null without any. */
  reasons: JSONColumnType<object[]> | null
  /** The key or person that has approved these reasons; null before. */
  approved_by: string | null
  /** Every change of a caller increments it. */
  version: Generated<number>
  created_at: Date
  updated_at: Date
  /** The next time that is not decided; null while none will be. */
  next_at: Date | null
  /** The newest time that was decided. */
  last_at: Date | null
  /** The number of transactions that it has sent. */
  runs: Generated<number>
  last_transaction_id: string | null
  /** The most that a run takes from the account, in the smallest unit, when one was last priced. */
  cost: bigint | null
}

/** The outcomes of the times of a schedule. */
export interface ScheduleRunsTable {
  schedule_id: string
  scheduled_at: Date
  /** `sent`, `refused` or `skipped`. */
  outcome: string
  decided_at: Date
  transaction_id: string | null
  /** The reason of a refusal, for programs. */
  code: string | null
  /** The reason why nothing was sent. */
  reason: string | null
  /** The times that the row stands for. */
  times: Generated<number>
}
