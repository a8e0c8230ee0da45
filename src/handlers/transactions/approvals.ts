import type { Schemas } from '../../contract/operations.ts'
import type { HandlerMap } from '../../http/handler.ts'
import { omitUndefined } from '../../lib/object.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import type { Proposal } from '../../second-person/proposals-store.ts'
import { absentProposal } from '../../second-person/second-person.ts'
import { type Approval, listApprovals } from '../../transactions/approvals/approvals-store.ts'
import { requireApproval } from '../../transactions/approvals/decide.ts'
import { presentDryRun } from '../present/dry-run.ts'
import { toPage } from '../present/shared.ts'
import type { AccessParts, CoreParts, RelayerParts, TransactionParts } from '../service.ts'
import { requireOwnTransaction } from './transactions.ts'

type Operations = 'listApprovals' | 'getApproval' | 'decideApproval'

const DECISIONS = { approve: 'approved', refuse: 'refused' } as const

/** The operations of the tag Approvals. */
export function approvalHandlers({
  db,
  relayerOf,
  transactions,
}: CoreParts & RelayerParts & TransactionParts): Pick<HandlerMap, Operations> {
  return {
    listApprovals: async ({ query }, { principal: { visibility } }) => {
      const page = toPage(query)
      const { offset, limit } = page
      const { items, total } = await listApprovals(db, { visibility, state: query.state, offset, limit })
      return { data: items.map(presentApproval), pagination: page.describe(total) }
    },
    getApproval: async ({ path, query }) => {
      const { relayer, item } = await requireOwnTransaction({ db, relayerOf }, path)
      const { transaction } = item
      const approval = await requireApproval({ db }, transaction.id)
      const shown = presentApproval(approval)
      if (!query.simulate || approval.state !== 'waiting') return { data: shown }
      const dryRun = await transactions.dryApprove(relayer, transaction)
      return { data: { ...shown, dry_run: presentDryRun(dryRun) }, logs: dryRun.logs }
    },
    decideApproval: async ({ path, body }, { actor }) => {
      const { relayer } = await requireOwnTransaction({ db, relayerOf }, path)
      const { transaction_id: id } = path
      const decision = DECISIONS[body.decision]
      return {
        data: presentApproval(
          await transactions.decideApproval({ relayer, id, actor, decision, reason: body.reason }),
        ),
      }
    },
  }
}

/** Converts an approval to the form of the contract. */
function presentApproval(approval: Approval): Schemas['Approval'] {
  return omitUndefined({
    transaction_id: approval.transactionId,
    relayer_id: poolIdOf(approval.relayerId),
    state: approval.state,
    requested_by: approval.requestedBy,
    requested_by_person: approval.requestedByPerson && omitUndefined(approval.requestedByPerson),
    reasons: approval.reasons.map(({ detail }) => detail),
    created_at: approval.createdAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
    decided_by: approval.decidedBy,
    decided_by_person: approval.decidedByPerson && omitUndefined(approval.decidedByPerson),
    decided_at: approval.decidedAt?.toISOString(),
    decision_reason: approval.decisionReason,
  })
}

/** The operations of the tag Proposals. Without a second person there are none. */
export function proposalHandlers({
  secondPerson,
}: AccessParts): Pick<HandlerMap, 'listProposals' | 'decideProposal'> {
  return {
    listProposals: async ({ query }, { principal }) => {
      const page = toPage(query)
      const { offset, limit } = page
      const found = await secondPerson?.list({ principal, state: query.state, offset, limit })
      const { items, total } = found ?? { items: [], total: 0 }
      return { data: items.map(presentProposal), pagination: page.describe(total) }
    },
    decideProposal: async ({ path: { proposal_id: id }, body }, context) => {
      if (secondPerson === undefined) throw absentProposal(id)
      const deciding = { id, decision: DECISIONS[body.decision], reason: body.reason }
      const { proposal, result } = await secondPerson.decide(context, deciding)
      return { data: { proposal: presentProposal(proposal), ...(result !== undefined && { result }) } }
    },
  }
}

function presentProposal(proposal: Proposal): Schemas['Proposal'] {
  const { proposedByPerson: proposer, decidedByPerson: decider } = proposal
  return omitUndefined({
    id: proposal.id,
    operation: proposal.operation,
    target: proposal.target,
    change: { ...proposal.shown },
    state: proposal.state,
    proposed_by: proposal.proposedBy,
    proposed_by_person: proposer && omitUndefined(proposer),
    created_at: proposal.createdAt.toISOString(),
    expires_at: proposal.expiresAt.toISOString(),
    decided_by: proposal.decidedBy,
    decided_by_person: decider && omitUndefined(decider),
    decided_at: proposal.decidedAt?.toISOString(),
    decision_reason: proposal.decisionReason,
  })
}
