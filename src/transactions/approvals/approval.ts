import type { RuleResult } from '../../spending/evaluate-content.ts'

/** Every state of an approval. A type test holds it equal to the contract's. */
export const APPROVAL_STATES = ['waiting', 'approved', 'refused', 'expired', 'withdrawn'] as const

/**
 * The state of an approval. `withdrawn`: the transaction ended before anybody decided, because it was canceled or its network started over.
 */
export type ApprovalState = (typeof APPROVAL_STATES)[number]

/** A rule that asks for an approval. */
export type ApprovalReason = Pick<RuleResult, 'subject' | 'rule' | 'detail'>

/** A transaction that is going to wait for an approval. */
export interface NewApproval {
  readonly transactionId: string
  readonly relayerId: string
  /** The id of the API key that sent the transaction. It cannot decide. */
  readonly requestedBy: string
  readonly reasons: readonly ApprovalReason[]
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** A decision about a transaction. */
export interface DecisionRecord {
  readonly decision: Exclude<ApprovalState, 'waiting' | 'withdrawn'>
  readonly decidedAt: Date
  /** The id of the API key that decided; absent when the time was over. */
  readonly decidedBy?: string | undefined
  /** The words of whoever decided. */
  readonly decisionReason?: string | undefined
}

/** A transaction that waits or has waited for an approval. */
export interface Approval extends NewApproval, Partial<Omit<DecisionRecord, 'decision'>> {
  readonly state: ApprovalState
}
