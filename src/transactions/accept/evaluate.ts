import type { Actor } from '../../access/principal.ts'
import { SERVICE } from '../../audit/entry.ts'
import type { Answer } from '../../chains/answer.ts'
import type { Draft, Prepared, SetupRequired } from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { AppError } from '../../errors.ts'
import { inactive, receiverForbidden, sendsPrivately } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { refusalIn } from '../../spending/ledger.ts'
import type { RuleResult } from '../../spending/rule.ts'
import { endedQuote } from '../../sponsoring/fee-payment.ts'
import { evaluateContent } from '../budgets/spenders.ts'
import { type After, afterReason, type RequestedAfter } from '../model/after.ts'
import { askBeforeSend } from '../model/before-send.ts'
import { PRICE_WAIT_MS } from '../model/due.ts'
import { accountOf, type TransactionsContext } from '../model/runtime.ts'
import { newTransactionId, type Transaction } from '../model/transaction.ts'
import type { Candidate } from './admit.ts'
import { checkAfter, checkTimes, prepareContent, withEncodedArgs } from './checks.ts'
import type { IdempotencyKey } from './idempotency.ts'

/** A request to accept for one account, and its sender. */
export interface Submission {
  readonly relayer: Relayer
  readonly request: ChainRequest
  readonly actor: Actor
  readonly idempotencyKey?: IdempotencyKey | undefined
  readonly lane?: string | undefined
  readonly reference?: string | undefined
  readonly description?: string | undefined
  readonly after?: RequestedAfter | undefined
  /** The schedule whose run it is. */
  readonly schedule?: { readonly id: string; readonly approved: Candidate['approved'] } | undefined
}

/** A request after everything that needs no price. */
export interface Checked {
  /** The request with its named arguments encoded: nothing else is signed. */
  readonly submission: Submission
  /** The request cannot be prepared at all. */
  readonly problem: AppError | undefined
  /** The results of the rules about its content. */
  readonly results: readonly RuleResult[]
}

/**
 * Checks everything that needs neither a price nor other requests.
 * @throws AppError if the named arguments cannot be encoded
 */
export async function checkSubmission(context: TransactionsContext, sent: Submission): Promise<Checked> {
  const { relayer, actor, idempotencyKey } = sent
  const { chain } = context.runtimeOf(relayer)
  const request = await withEncodedArgs(chain, sent.request)
  const submission = { ...sent, request }
  const problem = checkRequest(context, relayer, request) ?? (sent.after && checkAfter(chain, request))
  if (problem !== undefined) return { submission, problem, results: [] }
  // The service protects its own transactions against a second time by other means.
  const hasIdempotencyKey = idempotencyKey !== undefined || actor.keyId === SERVICE.keyId
  const effects = () => chain.effects(request, relayer.address)
  const results = evaluateContent(context, relayer, { actor, effects, hasIdempotencyKey })
  return { submission, problem, results }
}

/** Checks everything that needs neither the network nor the rules for spending. */
export function checkRequest(
  context: TransactionsContext,
  relayer: Relayer,
  request: ChainRequest,
): AppError | undefined {
  const refused = inactive(relayer) ?? receiverForbidden(relayer, request)
  if (refused) return refused
  const { chain } = context.runtimeOf(relayer)
  const refusal = chain.check(request, accountOf(relayer))
  if (refusal) return new AppError(refusal.code, refusal.detail)
  const now = context.clock.now()
  return checkTimes(chain, request, now) ?? endedQuote(request, now)
}

/** The answers of a node and of the operator's programs about a request. */
export interface Evaluation {
  /** The first reason to refuse it; undefined if only the admission can have one. */
  readonly refusal: AppError | undefined
  readonly prepared: Answer<Prepared> | SetupRequired
  /** The request with its price, for the admission; absent if a node refused it. */
  readonly candidate: Candidate | undefined
  /** The content to sign; absent if no node answered, or it is prepared later. */
  readonly draft: Draft | undefined
  /** Sentences for the caller. */
  readonly logs: readonly string[]
}

interface EvaluationOptions {
  /** The amount that the account can spend. */
  readonly balance: Promise<Answer<bigint>>
  readonly isDryRun?: boolean
}

/** Simulates and prices a checked request, and asks about it if nothing refuses it. */
export async function evaluate(
  context: TransactionsContext,
  { submission, ...checked }: Checked,
  { balance: balanceAnswer, isDryRun = false }: EvaluationOptions,
): Promise<Evaluation> {
  const { relayer, request, actor, idempotencyKey, lane } = submission
  const { chain } = context.runtimeOf(relayer)
  const [prepared, balance] = await Promise.all([
    prepareContent({ relayer, request, chain, now: context.clock.now(), after: waitOf(submission) }),
    balanceAnswer,
  ])
  const refused = refusalOf(checked) ?? refusedBy(prepared)
  const effects = () => chain.effects(request, relayer.address)
  const asked =
    refused === undefined
      ? await askBeforeSend(context, { action: 'send', relayer, actor, request, effects, lane, isDryRun })
      : { results: [] }
  const refusal = refused ?? asked.failure ?? refusalIn(asked.results)
  if (prepared.kind === 'refused')
    return { refusal, prepared, candidate: undefined, draft: undefined, logs: [] }
  const known = prepared.kind === 'ok' ? prepared.value : undefined
  const candidate = {
    relayer,
    transaction: newTransaction(context, submission, known),
    balance: balance.kind === 'ok' ? balance.value : undefined,
    actor,
    idempotencyKey,
    asked: asked.results,
    approved: submission.schedule?.approved,
  }
  return { refusal, prepared, candidate, draft: known?.draft, logs: logsOf(prepared) }
}

/** Returns the other transaction that the request still has to wait for. */
function waitOf({ after }: Pick<Submission, 'after'>): RequestedAfter | undefined {
  return after?.isOver === false ? after : undefined
}

function reasonToWait(submission: Pick<Submission, 'after'>): string | undefined {
  const wait = waitOf(submission)
  return wait && afterReason(wait)
}

function storedAfter({ isOver: _over, ...after }: RequestedAfter): After {
  return after
}

/** Returns the first reason that refuses a checked request. */
export function refusalOf({ problem, results }: Pick<Checked, 'problem' | 'results'>): AppError | undefined {
  return problem ?? refusalIn(results)
}

/** Returns the error of content that a node refuses, or that the chain includes already. */
export function refusedBy(prepared: Answer<Prepared> | SetupRequired): AppError | undefined {
  if (prepared.kind === 'refused') return new AppError(prepared.refusal.code, prepared.refusal.detail)
  if (prepared.kind !== 'ok' || prepared.value.included === undefined) return undefined
  return new AppError('invalid_request', prepared.value.included)
}

function logsOf(prepared: Exclude<Answer<Prepared>, { kind: 'refused' }> | SetupRequired): readonly string[] {
  if (prepared.kind === 'ok') return prepared.value.logs
  return prepared.kind === 'setup'
    ? [`${prepared.detail} The service does this first.`]
    : [`Not simulated yet: ${prepared.detail}. The service simulates it before signing.`]
}

function newTransaction(
  context: TransactionsContext,
  { relayer, request, actor, lane, reference, description, after, schedule }: Submission,
  prepared: Prepared | undefined,
): Transaction {
  const now = new Date(context.clock.now())
  const { chain } = context.runtimeOf(relayer)
  const externalNonce = chain.externalSigning?.nonceOf(request)
  const awaitsPrice = prepared?.awaitsPrice
  const expiresAt = chain.endsAt(request)?.toISOString()
  return {
    id: newTransactionId(),
    relayerId: relayer.id,
    network: relayer.network,
    from: relayer.address,
    status: 'pending',
    createdAt: now,
    request,
    purpose: 'request',
    estimatedGas: prepared?.knownGas,
    sourceAccount: externalNonce?.address,
    nonce: externalNonce?.nonce,
    version: 1,
    requestedBy: actor.keyId,
    lane,
    reference,
    description,
    scheduleId: schedule?.id,
    userId: actor.userId,
    traceParent: context.tracer?.requestContext(),
    isPrivate: sendsPrivately(relayer) || undefined,
    cost: prepared === undefined ? chain.amountOut(request) : chain.cost(prepared.draft),
    // The admission decides whether it still has to wait.
    ...(after && {
      after: { ...storedAfter(after), expiresAt },
      awaitsTransaction: waitOf({ after })?.transactionId,
    }),
    ...(awaitsPrice === undefined
      ? { nextRunAt: now, statusReason: reasonToWait({ after }) }
      : {
          awaitsPrice: true,
          statusReason: awaitsPrice,
          nextRunAt: new Date(now.getTime() + PRICE_WAIT_MS),
        }),
  }
}
