import { randomUUID } from 'node:crypto'
import { type Actor, callerName, type Principal, ROOT_ID } from '../access/principal.ts'
import { appendManagement } from '../audit/append-store.ts'
import { parseJson, stringifyJson } from '../contract/exact-integers.ts'
import type { OperationId, RawInput } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap, RequestContext } from '../http/handler.ts'
import type { Clock } from '../lib/time.ts'
import {
  type ChangeInput,
  COVERED_IDS,
  type CoveredId,
  isHarmless,
  personRequired,
  shownChange,
  targetOf,
} from './change.ts'
import {
  countWaiting,
  decideProposal,
  findProposal,
  findWaiting,
  finishProposal,
  forgetInput,
  insertProposal,
  listProposals,
  type Proposal,
  type ProposalState,
  reopenProposal,
} from './proposals-store.ts'

/** The most changes of one person that wait, so that no one fills the list. */
const MAX_WAITING = 20

/** The sender of a request, as a decision needs it. */
interface Requester {
  readonly principal: Principal
  readonly actor: Actor
}

/** A decision of a person about a proposal. */
interface Deciding {
  readonly id: string
  readonly decision: 'approved' | 'refused'
  readonly reason: string | undefined
}

/** A decided proposal, and what the operation returned if it was approved. */
interface Decided {
  readonly proposal: Proposal
  readonly result?: unknown
}

/**
 * The second person for changes of keys, rules, signers and receivers. It stands in front of the handlers:
 * what a person sends to one of these operations is stored, and runs when another person approves it, with
 * the rights of that person.
 */
export interface SecondPerson {
  /** Returns the handlers with those of the covered operations behind the second person. */
  guard(handlers: HandlerMap): HandlerMap
  list(query: ListQuery): Promise<{ items: Proposal[]; total: number }>
  /**
   * @throws AppError 404; 403 for the proposer and for an API key; 409 if it no longer waits; as the
   * operation
   */
  decide(context: RequestContext, deciding: Deciding): Promise<Decided>
}

interface ListQuery {
  readonly principal: Principal
  readonly state: ProposalState | undefined
  readonly offset: number
  readonly limit: number
}

type AnyHandler = (input: unknown, context: RequestContext) => Promise<{ readonly data?: unknown }>

interface SecondPersonDeps {
  readonly db: Db
  readonly clock: Clock
  /** A proposal expires after this time, in ms. */
  readonly expiresMs: number
  /** The fields that no one may read. */
  readonly secrets: ReadonlySet<string>
  /** Returns the scope of an operation. */
  readonly scopeOf: (id: OperationId) => Parameters<Principal['may']>[0] | undefined
  /** Checks scope and input of an operation, as for a request. */
  readonly admitCall: (id: CoveredId, principal: Principal, input: RawInput) => unknown
}

/** Creates the second person of a deployment. */
export function createSecondPerson(deps: SecondPersonDeps): SecondPerson {
  const { db, clock, expiresMs, secrets, scopeOf, admitCall } = deps
  const now = () => new Date(clock.now())
  let behind: HandlerMap | undefined

  /** Stores a change, and throws what says so: the operation has no other answer for it. */
  async function propose(
    { principal, actor }: Requester,
    operation: CoveredId,
    input: ChangeInput,
  ): Promise<never> {
    const target = targetOf(operation, input)
    const text = stringifyJson(input)
    const waiting = target === undefined ? undefined : await findWaiting(db, target, now())
    if (waiting?.state === 'waiting') {
      const isSame = waiting.operation === operation && waiting.input === text
      if (isSame && waiting.proposedBy === principal.id) throw waits(waiting)
      throw blocked(waiting)
    }
    if ((await countWaiting(db, principal.id, now())) >= MAX_WAITING) throw tooMany()
    const createdAt = now()
    const proposal = {
      id: randomUUID(),
      operation,
      target,
      input: text,
      shown: shownChange(operation, input, secrets),
      proposedBy: principal.id,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + expiresMs),
    }
    const isStored = await transact(db, async (tx) => {
      if (!(await insertProposal(tx, proposal))) return false
      const after = { operation, target, change: proposal.shown, expires_at: proposal.expiresAt }
      const record = { type: 'proposal', id: proposal.id } as const
      await appendManagement(tx, { author: actor, action: 'proposeChange', target: record, after })
      return true
    })
    throw isStored ? waits(proposal) : blocked(await findWaiting(db, target ?? '', now()))
  }

  /** The key of the environment needs no one: it is for emergencies, and says so in the audit log. */
  async function recordBypass(author: Actor, operation: CoveredId, input: ChangeInput): Promise<void> {
    const target = { type: 'deployment', id: 'second_person' } as const
    const after = { operation, target: targetOf(operation, input) }
    await transact(db, (tx) => appendManagement(tx, { author, action: 'bypassSecondPerson', target, after }))
  }

  function guarded(operation: CoveredId, handler: AnyHandler): AnyHandler {
    return async (input, context) => {
      const { path, body } = input as ChangeInput
      const change = { path, body }
      const { principal, actor } = context
      if (isHarmless(operation, change)) return handler(input, context)
      if (principal.id === ROOT_ID) {
        await recordBypass(actor, operation, change)
        return handler(input, context)
      }
      if (principal.person === undefined) throw personRequired(principal.id)
      return propose(context, operation, change)
    }
  }

  /** Decides in one commit, so that of two people at the same time one decides. */
  async function record(actor: Actor, proposal: Proposal, { decision, reason }: Deciding): Promise<void> {
    const decidedAt = now()
    await transact(db, async (tx) => {
      const isDecided = await decideProposal(tx, proposal.id, {
        decision: decision === 'approved' ? 'unfinished' : decision,
        decidedBy: actor.keyId,
        decidedAt,
        reason,
      })
      if (!isDecided) throw over(await findProposal(tx, proposal.id, decidedAt))
      if (decision === 'refused') await forgetInput(tx, proposal.id)
      const target = { type: 'proposal', id: proposal.id } as const
      const after = { decision, reason, operation: proposal.operation, proposed_by: proposal.proposedBy }
      await appendManagement(tx, { author: actor, action: 'decideProposal', target, after })
    })
  }

  async function run(context: RequestContext, operation: CoveredId, input: unknown, id: string) {
    const handler = behind?.[operation] as AnyHandler
    const { data } = await handler(input, context).catch(async (error: unknown) => {
      // The change took no effect, so the proposal can still be refused, or approved later.
      await transact(db, (tx) => reopenProposal(tx, id))
      throw error
    })
    // Without this line, after a crash, the proposal goes on saying that it is not known to have taken effect.
    await transact(db, (tx) => finishProposal(tx, id))
    return data
  }

  return {
    guard: (handlers) => {
      behind = handlers
      const covered = COVERED_IDS.map((id) => [id, guarded(id, handlers[id] as AnyHandler)])
      return { ...handlers, ...Object.fromEntries(covered) }
    },
    list: ({ principal, ...query }) => {
      const operations = COVERED_IDS.filter((id) => {
        const scope = scopeOf(id)
        return scope !== undefined && principal.may(scope)
      })
      return listProposals(db, { ...query, operations, now: now() })
    },
    decide: async (context, deciding) => {
      const { principal, actor } = context
      const proposal = await findProposal(db, deciding.id, now())
      if (proposal === undefined) throw absentProposal(deciding.id)
      const operation = proposal.operation as CoveredId
      const scope = scopeOf(operation)
      if (scope === undefined || !principal.may(scope)) throw lacks(principal, scope)
      if (principal.person === undefined) throw personRequired(principal.id)
      if (proposal.proposedBy === principal.id) throw ownProposal(principal.id)
      if (proposal.state !== 'waiting') throw over(proposal)
      // It is checked again: the contract of a newer release may refuse what an older one took.
      const input = admitCall(operation, principal, parseJson(proposal.input) as RawInput)
      await record(actor, proposal, deciding)
      const result =
        deciding.decision === 'approved' ? await run(context, operation, input, proposal.id) : undefined
      const decided = (await findProposal(db, deciding.id, now())) ?? proposal
      return { proposal: decided, ...(result !== undefined && { result }) }
    },
  }
}

function waits({ id, expiresAt }: Pick<Proposal, 'id' | 'expiresAt'>): AppError {
  return new AppError(
    'second_person_required',
    `Nothing is changed yet: proposal ${id} waits until ${expiresAt.toISOString()} for another person to approve it.`,
  )
}

function blocked(waiting: Proposal | undefined): AppError {
  return new AppError(
    'second_person_required',
    `Another change of the same record waits${waiting ? ` as proposal ${waiting.id}` : ''}; someone has to decide about it first.`,
  )
}

function tooMany(): AppError {
  return new AppError(
    'second_person_required',
    `${MAX_WAITING} of your proposals wait already; others have to decide about them first.`,
  )
}

function lacks({ id }: Principal, scope: string | undefined): AppError {
  return new AppError('insufficient_scope', `${callerName(id)} lacks the scope ${scope}.`)
}

function ownProposal(id: string): AppError {
  return new AppError('own_approval', `Person ${id} proposed this change; another person must decide.`)
}

function over(proposal: Proposal | undefined): AppError {
  return new AppError(
    'approval_decided',
    `This proposal no longer waits: it is ${proposal?.state ?? 'decided'}.`,
  )
}

/** Makes the failure for a proposal that is not there. */
export function absentProposal(id: string): AppError {
  return new AppError('proposal_not_found', `There is no proposal ${id}.`)
}
