import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Approval } from '../../transactions/approvals/approval.ts'

/** Converts an approval to the form of the contract. */
export function presentApproval(approval: Approval): Schemas['Approval'] {
  return omitUndefined({
    transaction_id: approval.transactionId,
    relayer_id: approval.relayerId,
    state: approval.state,
    requested_by: approval.requestedBy,
    reasons: approval.reasons.map(({ detail }) => detail),
    created_at: approval.createdAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
    decided_by: approval.decidedBy,
    decided_at: approval.decidedAt?.toISOString(),
    decision_reason: approval.decisionReason,
  })
}
