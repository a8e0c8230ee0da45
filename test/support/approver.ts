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
  /** The same key at another service of the same database. */
  at(service: Service): Approver
}

/** Issues a key that may read and approve. */
export async function issueApprover(service: Service, rights: object = {}): Promise<Approver> {
  const key = { name: 'Approver', scopes: ['transactions:read', 'transactions:approve'], ...rights }
  const { body } = await service.api<{ id: string; secret: string }>('POST', '/api-keys', key)
  if (!body.success) throw new Error(`the key was refused: ${body.error}`)
  return approverAt(service, body.data)
}

function approverAt(service: Service, issued: { readonly id: string; readonly secret: string }): Approver {
  const headers = { authorization: `Bearer ${issued.secret}` }
  return {
    id: issued.id,
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
    at: (other) => approverAt(other, issued),
  }
}
