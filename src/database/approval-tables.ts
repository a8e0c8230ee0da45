import type { JSONColumnType } from 'kysely'

/** Transactions that wait or have waited for an approval. A row changes once, when it is decided. */
export interface ApprovalsTable {
  transaction_id: string
  relayer_id: string
  /** The id of the API key that sent the transaction. */
  requested_by: string
  /** The rules that ask for the approval: `ApprovalReason[]` of `transactions/approvals`. */
  reasons: JSONColumnType<readonly object[]>
  created_at: Date
  expires_at: Date
  /** `approved`, `refused` or `expired`; null until then, and when the transaction ended before. */
  decision: string | null
  /** The id of the API key that decided. */
  decided_by: string | null
  decided_at: Date | null
  /** The words of whoever decided. */
  decision_reason: string | null
}

/** Receivers that approved transactions of an API key or a relayer have paid. */
export interface KnownReceiversTable {
  /** `key:<id>` or `relayer:<id>`. */
  subject: string
  /** By type and name. */
  network: string
  receiver: string
}
