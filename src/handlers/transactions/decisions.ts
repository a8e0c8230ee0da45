import type { Actor } from '../../access/principal.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'
import { requireTransaction } from '../../transactions/store/lookups-store.ts'
import {
  type DecisionOutcome,
  decideTransaction,
  type StatedDecision,
} from '../../transactions/watch/decide.ts'
import type { Service } from '../service.ts'

type DecidingService = Pick<Service, 'db' | 'clock'>

interface Deciding {
  readonly id: string
  readonly body: Schemas['TransactionDecision']
  readonly actor: Actor
  /** The path of the decision in the request. */
  readonly at: string
}

/**
 * Decides what happened to one transaction, as an operator says.
 * @throws AppError 400 `invalid_request`, `transaction_not_undecided`; 404 `transaction_not_found`
 */
export async function decide(
  { db, clock }: DecidingService,
  relayer: Relayer,
  { id, body, actor, at }: Deciding,
): Promise<void> {
  const { included, attempt, hash, reason } = body
  for (const [field, value] of Object.entries({ attempt, hash }))
    if (!included && value !== undefined)
      throw new AppError('invalid_request', `${at}.${field}: expected only where ${at}.included is true.`)
  if (attempt !== undefined && hash !== undefined)
    throw new AppError('invalid_request', `${at}.hash: expected only without ${at}.attempt.`)
  if (hash !== undefined && !FAMILIES[relayer.networkType].hash.test(hash))
    throw new AppError(
      'invalid_request',
      `${at}.hash: expected the hash of a transaction on a network of type ${relayer.networkType}.`,
    )
  const { transaction } = await requireTransaction(db, relayer, id)
  const decision = { transactionId: id, included, attempt, hash, reason, decidedBy: actor.keyId }
  const outcome = await decideTransaction(db, decision, { author: actor, now: new Date(clock.now()) })
  if (outcome !== 'stored' && outcome !== 'applied') throw refusalOf(outcome, transaction, { decision, at })
}

interface DecisionList {
  readonly decisions: Schemas['TransactionDecisionsRequest']['decisions']
  readonly actor: Actor
}

/**
 * Decides about each transaction of a list by itself, and returns those that were refused with the reason.
 */
export async function decideEach(
  service: DecidingService,
  relayer: Relayer,
  { decisions, actor }: DecisionList,
): Promise<Schemas['TransactionDecisions']> {
  const decided: string[] = []
  const failures: Schemas['TransactionDecisions']['failures'][number][] = []
  for (const [index, { transaction_id: id, ...body }] of decisions.entries()) {
    try {
      await decide(service, relayer, { id, body, actor, at: `body.decisions[${index}]` })
      decided.push(id)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      failures.push({ transaction_id: id, code: error.code, error: error.detail })
    }
  }
  return { decided_transaction_ids: decided, failures }
}

function refusalOf(
  outcome: Exclude<DecisionOutcome, 'stored' | 'applied'>,
  { id, status, undecidedSince, currentAttempt }: Transaction,
  { decision: { attempt = currentAttempt }, at }: { readonly decision: StatedDecision; readonly at: string },
): AppError {
  if (outcome === 'unknown_attempt')
    return new AppError('invalid_request', `${at}.attempt: transaction ${id} has no attempt ${attempt}.`)
  if (outcome === 'still_signing')
    return new AppError(
      'transaction_not_undecided',
      `Transaction ${id} is pending, and its relayer could sign it now. Pause the relayer first.`,
    )
  const detail =
    status === 'mined' && undecidedSince !== undefined
      ? `Transaction ${id} is in a block, and the endpoints disagree about its result: it waits until they agree.`
      : `Transaction ${id} is ${status} and does not wait for a decision: the chain decides.`
  return new AppError('transaction_not_undecided', detail)
}
