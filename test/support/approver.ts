import type { Answer, Service } from './service.ts'

/** An approval, as the contract shows it. */
export interface Approval {
  readonly transaction_id: string
  readonly state: string
  readonly requested_by: string
  readonly reasons: readonly string[]
  readonly expires_at: string
  readonly decided_by?: string
  readonly decision_reason?: string
}

/** An API key that decides about the transactions of others. */
export interface Approver {
  readonly id: string
  /** Decides about a transaction of relayer `main`. */
  decide(id: string, decision: 'approve' | 'refuse', reason?: string): Promise<Answer<Approval>>
  /** Lists the approvals that it sees. */
  list(state?: string): Promise<Answer<Approval[]>>
}

/** Issues a key that may read and approve. */
export async function issueApprover(service: Service, rights: object = {}): Promise<Approver> {
  const key = { name: 'Approver', scopes: ['transactions:read', 'transactions:approve'], ...rights }
  const { body } = await service.api<{ id: string; secret: string }>('POST', '/api-keys', key)
  if (!body.success) throw new Error(`the key was refused: ${body.error}`)
  const headers = { authorization: `Bearer ${body.data.secret}` }
  return {
    id: body.data.id,
    decide: (id, decision, reason) =>
      service.api(
        'POST',
        `/relayers/main/transactions/${id}/approval`,
        { decision, ...(reason === undefined ? {} : { reason }) },
        headers,
      ),
    list: (state) =>
      service.api(
        'GET',
        state === undefined ? '/approvals' : `/approvals?state=${state}`,
        undefined,
        headers,
      ),
  }
}
