import type { Actor } from '../../access/principal.ts'
import { SERVICE } from '../../audit/entry.ts'
import type { Answer } from '../../chains/answer.ts'
import type { Prepared } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { AppError } from '../../errors.ts'
import { createBatcher } from '../../lib/concurrency/batcher.ts'
import { inactive, receiverForbidden, sendsPrivately } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { refusalIn, requireAllowed } from '../../spending/book.ts'
import { endedQuote } from '../../sponsoring/fee-payment.ts'
import { evaluateRequest } from '../budgets/evaluate-request.ts'
import { askBeforeSend } from '../model/before-send.ts'
import { PRICE_WAIT_MS } from '../model/due.ts'
import { accountOf, type TransactionsContext } from '../model/runtime.ts'
import { newTransactionId, type Transaction, type TransactionWithAttempts } from '../model/transaction.ts'
import { findTransaction } from '../store/lookups-store.ts'
import { admitCandidates, type Candidate, type Decision } from './admit.ts'
import { checkTimes, prepareContent, withEncodedArgs } from './checks.ts'
import { findByIdempotencyKey, type IdempotencyKey } from './idempotency.ts'
import { type Arrival, refuseHopeless } from './queue-limit.ts'

/** A stored transaction, and sentences about it for the caller. */
export interface Accepted extends TransactionWithAttempts {
  readonly logs: readonly string[]
}

/** Accepts a request for an account. A repeated idempotency key returns the transaction that the first request with it created. */
export type Acceptor = (
  relayer: Relayer,
  request: ChainRequest,
  actor: Actor,
  options?: Pick<Submission, 'idempotencyKey' | 'lane'> & Pick<Arrival, 'maxQueueSeconds'>,
) => Promise<Accepted>

/** The maximum number of rows in one database transaction. More rows would hold the account's lock for longer than a request may take. */
const MAX_ROWS = 200

/** The key of the candidates of all relayers. No relayer has an empty id. */
const ALL = ''

/**
 * Accepts requests: it checks, simulates and stores them with their events and audit entries. When the promise resolves, the row is
 * committed (I1). A node that does not answer refuses no request (I6): the worker simulates again before it signs.
 * @throws AppError with the rule that the request breaks, or `idempotency_key_reused`; nothing is stored then
 */
export function createAcceptor(context: TransactionsContext): Acceptor {
  const admit = createBatcher<Candidate, Decision>({
    maxItems: MAX_ROWS,
    collectsTurn: true,
    // A server makes a database transaction wait for locks, and the requests of one relayer must not wait for the locks of another.
    keyOf: (candidate) => (context.hasOneSession ? ALL : candidate.relayer.id),
    run: (candidates) => admitCandidates(context, candidates),
  })
  return async (relayer, request, actor, { maxQueueSeconds, ...options } = {}) => {
    const { idempotencyKey } = options
    const earlier = idempotencyKey && (await findByIdempotencyKey(context.db, relayer.id, idempotencyKey))
    if (earlier) return repeated(earlier)
    await refuseHopeless(context, relayer, { actor, count: 1, maxQueueSeconds })
    try {
      return await acceptNew(context, admit, { relayer, request, actor, ...options })
    } catch (error) {
      // A concurrent request with the same key may have been accepted in the meantime, and may be the reason for this refusal.
      const meanwhile = idempotencyKey && (await findByIdempotencyKey(context.db, relayer.id, idempotencyKey))
      if (meanwhile) return repeated(meanwhile)
      throw error
    }
  }
}

/** A request to accept, and its sender. */
export interface Submission {
  readonly relayer: Relayer
  readonly request: ChainRequest
  readonly actor: Actor
  readonly idempotencyKey?: IdempotencyKey | undefined
  readonly lane?: string | undefined
}

/**
 * Accepts a request that has no idempotency key or a new one. `admit` stores it.
 * @throws AppError with the rule that the request breaks; nothing is stored then
 */
export async function acceptNew(
  context: TransactionsContext,
  admit: (candidate: Candidate) => Promise<Decision>,
  sent: Submission,
): Promise<Accepted> {
  const { relayer } = sent
  const { chain } = context.runtimeOf(relayer)
  const submission = { ...sent, request: await withEncodedArgs(chain, sent.request) }
  const refusal = checkStatic(context, submission)
  if (refusal) throw refusal
  const { candidate, logs } = await prepareCandidate(
    context,
    submission,
    chain.recentBalance(relayer.address),
  )
  const decision = await admitByBalance(chain, candidate, admit)
  if (decision.kind === 'refused') throw decision.error
  if (decision.kind === 'repeated')
    return repeated(await requireTransaction(context, relayer, decision.transactionId))
  const { transaction } = decision
  context.observer?.created([transaction])
  return { transaction, attempts: [], logs }
}

/**
 * Admits the candidate by a balance that may be about a block old: what was spent since then is noticed before the transaction is signed,
 * which compares it with the current balance, and then it waits. A caller may have just funded the account, so a refusal is based on the
 * current balance.
 */
async function admitByBalance(
  chain: Chain,
  candidate: Candidate,
  admit: (candidate: Candidate) => Promise<Decision>,
): Promise<Decision> {
  const decision = await admit(candidate)
  if (decision.kind !== 'refused' || decision.error.code !== 'insufficient_balance') return decision
  const present = await chain.balance(candidate.relayer.address)
  return admit({ ...candidate, balance: present.kind === 'ok' ? present.value : undefined })
}

/**
 * Simulates and prices a request that passed `checkStatic`, and asks about it, for its admission. `logs` are sentences for the caller.
 * @throws AppError if the chain would refuse it, or someone who is asked does
 */
export async function prepareCandidate(
  context: TransactionsContext,
  { relayer, request, actor, idempotencyKey, lane }: Submission,
  balanceAnswer: Promise<Answer<bigint>>,
): Promise<{ candidate: Candidate; logs: readonly string[] }> {
  const { chain } = context.runtimeOf(relayer)
  const [prepared, balance] = await Promise.all([
    prepareContent({ relayer, request, chain, now: context.clock.now() }),
    balanceAnswer,
  ])
  if (prepared.kind === 'refused') throw new AppError(prepared.refusal.code, prepared.refusal.detail)
  const known = prepared.kind === 'ok' ? prepared.value : undefined
  refuseIncluded(known)
  const effects = () => chain.effects(request, relayer.address)
  const asked = await askBeforeSend(context, { action: 'send', relayer, actor, request, effects, lane })
  requireAllowed(asked)
  const candidate = {
    relayer,
    transaction: newTransaction(context, { relayer, request, actor, lane, prepared: known }),
    balance: balance.kind === 'ok' ? balance.value : undefined,
    actor,
    idempotencyKey,
    asked,
  }
  const unknown =
    prepared.kind === 'unknown'
      ? [`Not simulated yet: ${prepared.detail}. The service simulates it before signing.`]
      : []
  const setup = prepared.kind === 'setup' ? [`${prepared.detail} The service does this first.`] : []
  return { candidate, logs: [...(known?.logs ?? []), ...unknown, ...setup] }
}

/** The answer to a request whose key was used before. */
export function repeated(item: TransactionWithAttempts): Accepted {
  return {
    ...item,
    logs: ['This Idempotency-Key was used before: this is its transaction, as it is now.'],
  }
}

async function requireTransaction(
  { db }: TransactionsContext,
  relayer: Relayer,
  id: string,
): Promise<TransactionWithAttempts> {
  const item = await findTransaction(db, relayer.id, id)
  if (item === undefined) throw new Error(`the key of transaction ${id} is there and the transaction is not`)
  return item
}

/** Checks everything that needs no network. The rules are the same for a new request and for a replacement. */
export function checkStatic(
  context: TransactionsContext,
  { relayer, request, actor, idempotencyKey }: Submission,
): AppError | undefined {
  // The service protects its own transactions against a second time by other means.
  const hasIdempotencyKey = idempotencyKey !== undefined || actor.keyId === SERVICE.keyId
  const ruled = { request, actor, hasIdempotencyKey }
  return checkRequest(context, relayer, request) ?? refusalIn(evaluateRequest(context, relayer, ruled))
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

/**
 * Refuses content that the chain includes already.
 * @throws AppError `invalid_request`
 */
export function refuseIncluded(prepared: Prepared | undefined): void {
  if (prepared?.included !== undefined) throw new AppError('invalid_request', prepared.included)
}

function newTransaction(
  context: TransactionsContext,
  {
    relayer,
    request,
    actor,
    lane,
    prepared,
  }: Omit<Submission, 'idempotencyKey'> & { readonly prepared: Prepared | undefined },
): Transaction {
  const now = new Date(context.clock.now())
  const { chain } = context.runtimeOf(relayer)
  const externalNonce = chain.externalSigning?.nonceOf(request)
  const awaitsPrice = prepared?.awaitsPrice
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
    traceParent: context.tracer?.requestContext(),
    isPrivate: sendsPrivately(relayer) || undefined,
    cost: prepared === undefined ? chain.amountOut(request) : chain.cost(prepared.draft),
    ...(awaitsPrice === undefined
      ? { nextRunAt: now }
      : {
          awaitsPrice: true,
          statusReason: awaitsPrice,
          nextRunAt: new Date(now.getTime() + PRICE_WAIT_MS),
        }),
  }
}
