import type { Actor } from '../access/principal.ts'
import type { Answer } from '../chains/answer.ts'
import type { Draft } from '../chains/attempt.ts'
import type { ExternalNonce } from '../chains/capabilities.ts'
import type { Unit } from '../chains/chain.ts'
import { nativeIn } from '../chains/effects.ts'
import type { ChainRequest } from '../chains/request.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import { shortOfFunds } from '../relayers/policies/policy.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { readLedger, refusalIn } from '../spending/book.ts'
import type { RuleResult } from '../spending/evaluate-content.ts'
import { paymentRefusal } from '../sponsoring/fee-payment.ts'
import { checkRequest } from './accept/accept.ts'
import { externalNonceProblem, prepareContent, usedExternalNonces, withEncodedArgs } from './accept/checks.ts'
import { type IdempotencyKey, keyReuseError } from './accept/idempotency.ts'
import { queueProblem } from './accept/queue-limit.ts'
import { evaluateApprovals, refuseWaiting } from './approvals/evaluate-approvals.ts'
import { purchaseOf } from './budgets/charge.ts'
import { evaluateRequest, type RuledRequest } from './budgets/evaluate-request.ts'
import { attemptsAtNonce } from './model/attempts.ts'
import { askInDryRun } from './model/before-send.ts'
import { isForLater } from './model/due.ts'
import { accountOf, type TransactionsContext } from './model/runtime.ts'
import type { Transaction } from './model/transaction.ts'
import { mustReplaceSigned, unpreparedError } from './replace/replace.ts'
import type { Replacing } from './replace/replacement.ts'
import {
  evaluateReplacement,
  REPLACEMENT_CANNOT_WAIT,
  replacementRefusal,
} from './replace/replacement-refusal.ts'
import { reservedBy } from './store/due-store.ts'
import { findKey, type KeyRecord } from './store/idempotency-store.ts'
import { requireTransaction } from './store/lookups-store.ts'

/** Requests that change nothing, and return what would happen. */
export interface DryRuns {
  send(relayer: Relayer, sending: DrySending): Promise<DryRun>
  /** @throws AppError `transaction_not_found` */
  replace(replacing: Replacing): Promise<DryRun>
  /** Tells what would happen if a transaction that waits for an approval were approved now. */
  approve(relayer: Relayer, transaction: Transaction): Promise<DryRun>
}

/** Creates the dry runs of this process. */
export function createDryRuns(context: TransactionsContext): DryRuns {
  return {
    send: (relayer, sending) => drySend(context, relayer, sending),
    replace: (replacing) => dryReplace(context, replacing),
    approve: (relayer, transaction) => dryApprove(context, relayer, transaction),
  }
}

/**
 * The progress of a dry run. `succeeded`: a node prepared and simulated the request. `refused`: it refused the request. `unknown`: no node
 * answered. `skipped`: no node was queried, because a rule refuses the request or its idempotency key was used before.
 */
type Simulation = 'succeeded' | 'refused' | 'unknown' | 'skipped'

/** It says what would happen to a request now. Amounts are in the smallest unit. */
export interface DryRun {
  /** The first reason for which the request would be refused; undefined if it would be accepted. */
  readonly refusal: AppError | undefined
  readonly simulation: Simulation
  readonly unit: Unit
  /** The price is absent if nothing could be prepared. */
  readonly price?: DryPrice | undefined
  /** The account can spend this much; absent if no node returned it. */
  readonly balance?: bigint | undefined
  /** The other transactions in flight reserve this much; absent if it was not looked up. */
  readonly reserved?: bigint | undefined
  readonly results: readonly RuleResult[]
  /** Sentences about what the service would change or decide. */
  readonly logs: readonly string[]
}

/** The price of a request. */
interface DryPrice {
  /** Absent if no node answered, or the content would be prepared later. */
  readonly draft?: Draft | undefined
  /** The request moves this much of the native currency. */
  readonly value: bigint
  /** The most that it can take from the account, which would be reserved. */
  readonly cost: bigint
}

/** A request to send, and its sender. */
export interface DrySending {
  readonly request: ChainRequest
  readonly actor: Actor
  readonly idempotencyKey: IdempotencyKey | undefined
  readonly lane?: string | undefined
  readonly maxQueueSeconds?: number | undefined
}

/** Returns what would happen if the request were sent now. It makes the same queries as a send, and stores nothing. */
async function drySend(
  context: TransactionsContext,
  relayer: Relayer,
  { idempotencyKey, maxQueueSeconds, ...sending }: DrySending,
): Promise<DryRun> {
  const { unit } = context.runtimeOf(relayer).chain
  const earlier = idempotencyKey && (await findKey(context.db, relayer.id, idempotencyKey))
  // As for a send, a used key comes before every other rule: a repeated request returns its transaction, even if the relayer is paused.
  if (earlier) return { ...repeatedRun(earlier, idempotencyKey), unit }
  const hopeless = await queueProblem(context, relayer, { actor: sending.actor, count: 1, maxQueueSeconds })
  if (hopeless) return { refusal: hopeless, simulation: 'skipped', unit, results: [], logs: [] }
  return dryNewSend(context, relayer, { ...sending, hasIdempotencyKey: idempotencyKey !== undefined })
}

/** Returns what would happen to a request whose key was used before. Pure. */
function repeatedRun(earlier: KeyRecord, idempotencyKey: IdempotencyKey): Omit<DryRun, 'unit'> {
  const refusal = keyReuseError(earlier, idempotencyKey)
  const logs = [
    `This Idempotency-Key was used before: a send would return transaction ${earlier.transactionId} and spend nothing.`,
  ]
  return { refusal, simulation: 'skipped', results: [], logs: refusal ? [] : logs }
}

async function dryNewSend(
  context: TransactionsContext,
  relayer: Relayer,
  { request: sent, actor, hasIdempotencyKey, lane }: RuledRequest & Pick<DrySending, 'lane'>,
): Promise<DryRun> {
  const { chain } = context.runtimeOf(relayer)
  const request = await withEncodedArgs(chain, sent)
  const { unit } = chain
  const problem = checkRequest(context, relayer, request)
  if (problem) return { refusal: problem, simulation: 'skipped', unit, results: [], logs: [] }
  const effects = () => chain.effects(request, relayer.address)
  const [waiting = []] = await evaluateApprovals(context.db, relayer, [{ actor, effects }])
  const ofRules = [...evaluateRequest(context, relayer, { request, actor, hasIdempotencyKey }), ...waiting]
  const prepared = await prepareContent({ relayer, request, chain, now: context.clock.now() })
  const violated = refusalIn(ofRules)
  if (prepared.kind === 'refused') {
    const { code, detail } = prepared.refusal
    const refusal = violated ?? new AppError(code, detail)
    return { refusal, simulation: 'refused', unit, results: ofRules, logs: [] }
  }
  const known = prepared.kind === 'ok' ? prepared.value : undefined
  // As a send does: only about content that nothing else refuses.
  const asked =
    violated === undefined
      ? await askInDryRun(context, { action: 'send', relayer, actor, request, effects, lane })
      : NOT_ASKED
  const ofContent = [...ofRules, ...asked.results]
  const cost = known === undefined ? chain.amountOut(request) : chain.cost(known.draft)
  const awaitsPrice = known?.awaitsPrice !== undefined
  const evaluated = await evaluatePrice(context, {
    relayer,
    actor,
    request,
    draft: known?.draft,
    cost,
    awaitsPrice,
  })
  const included = known?.included === undefined ? undefined : new AppError('invalid_request', known.included)
  const refusal =
    violated ??
    included ??
    asked.failure ??
    refusalIn(asked.results) ??
    (await nonceProblem(context, relayer, request)) ??
    (await paymentRefusal(context.db, { relayerId: relayer.id, request, now: context.clock.now() }))
  return {
    ...pricedRun({ refusal, unit, ofContent, evaluated }),
    simulation: prepared.kind === 'unknown' ? 'unknown' : 'succeeded',
    logs: prepared.kind === 'ok' ? prepared.value.logs : [prepared.detail],
  }
}

/** A rule refuses the content, so no one is asked about it. */
const NOT_ASKED: Awaited<ReturnType<typeof askInDryRun>> = { results: [] }

async function nonceProblem(
  { db, runtimeOf }: TransactionsContext,
  relayer: Relayer,
  request: ChainRequest,
): Promise<AppError | undefined> {
  const runtime = runtimeOf(relayer)
  const nonce: ExternalNonce | undefined = runtime.chain.externalSigning?.nonceOf(request)
  if (nonce === undefined) return undefined
  const used = await transact(db, (tx) =>
    usedExternalNonces(tx, runtime, { relayerId: relayer.id, nonces: [nonce] }),
  )
  return externalNonceProblem(runtime, nonce, used)
}

/**
 * Returns what would happen if the transaction were replaced now. Only the broadcast shows whether a node accepts the new bytes.
 * @throws AppError `transaction_not_found`
 */
async function dryReplace(context: TransactionsContext, replacing: Replacing): Promise<DryRun> {
  const { relayer, id, actor } = replacing
  const { chain } = context.runtimeOf(relayer)
  const request = await withEncodedArgs(chain, replacing.request)
  const change = { ...replacing, request, action: 'replaceTransaction' } as const
  const { unit } = chain
  const item = await requireTransaction(context.db, relayer, id)
  const problem = replacementRefusal(context, change, item)
  if (problem) return { refusal: problem, simulation: 'skipped', unit, results: [], logs: [] }
  const ofRules = await evaluateReplacement(context, { relayer, request, actor })
  const account = accountOf(relayer)
  const prepared = mustReplaceSigned(context, change, item)
    ? await chain.replace(request, attemptsAtNonce(item), account)
    : await prepareContent({ relayer, request, chain, now: context.clock.now() })
  const effects = () => chain.effects(request, relayer.address)
  const { lane } = item.transaction
  const asked =
    refusalIn(ofRules) === undefined
      ? await askInDryRun(context, {
          action: 'replace',
          relayer,
          actor,
          request,
          effects,
          transactionId: id,
          lane,
        })
      : NOT_ASKED
  const ofContent = [...ofRules, ...refuseWaiting(asked.results, REPLACEMENT_CANNOT_WAIT)]
  const violated = refusalIn(ofRules) ?? asked.failure ?? refusalIn(ofContent)
  if (prepared.kind === 'refused' || prepared.kind === 'setup' || prepared.kind === 'unknown') {
    const refusal = violated ?? unpreparedError(prepared)
    const simulation = prepared.kind === 'unknown' ? 'unknown' : 'refused'
    return { refusal, simulation, unit, results: ofContent, logs: [] }
  }
  const draft = prepared.kind === 'ok' ? prepared.value.draft : undefined
  const later = prepared.kind === 'after_expiry' ? prepared.cost : undefined
  const cost = draft === undefined ? (later ?? chain.amountOut(request)) : chain.cost(draft)
  const awaitsPrice = prepared.kind === 'ok' && prepared.value.awaitsPrice !== undefined
  const evaluated = await evaluatePrice(context, {
    relayer,
    actor,
    request,
    draft,
    cost,
    awaitsPrice,
    replaces: id,
  })
  const included =
    prepared.kind === 'ok' && prepared.value.included !== undefined
      ? new AppError('invalid_request', prepared.value.included)
      : undefined
  return {
    ...pricedRun({ refusal: violated ?? included, unit, ofContent, evaluated }),
    simulation: 'succeeded',
    logs: prepared.kind === 'ok' ? prepared.value.logs : [prepared.detail],
  }
}

/**
 * Tells what would happen if the transaction were approved now. Its rules allowed it, and its budgets were charged, when it was accepted, so an
 * approval depends on the simulation and the funds alone.
 */
async function dryApprove(
  context: TransactionsContext,
  relayer: Relayer,
  { request, cost: reservation }: Transaction,
): Promise<DryRun> {
  const { chain } = context.runtimeOf(relayer)
  const { unit } = chain
  const now = context.clock.now()
  const [prepared, answer, reserved] = await Promise.all([
    prepareContent({ relayer, request, chain, now }),
    chain.balance(relayer.address),
    reservedBy(context.db, relayer.id, { now: new Date(now) }),
  ])
  const balance = balanceIn(answer)
  const known = { unit, balance, reserved, results: [] }
  if (prepared.kind === 'refused') {
    const { code, detail } = prepared.refusal
    return { ...known, refusal: new AppError(code, detail), simulation: 'refused', logs: [] }
  }
  const draft = prepared.kind === 'ok' ? prepared.value.draft : undefined
  const cost = draft === undefined ? reservation : chain.cost(draft)
  const shortage =
    balance === undefined || isForLater(request, now)
      ? undefined
      : shortOfFunds(relayer, { unit, balance, reserved, cost: reservation })
  return {
    ...known,
    refusal: shortage,
    simulation: prepared.kind === 'unknown' ? 'unknown' : 'succeeded',
    price: { draft, value: nativeIn(chain.effects(request, relayer.address).amounts), cost },
    logs: prepared.kind === 'ok' ? prepared.value.logs : [prepared.detail],
  }
}

/** A request with its price, and its sender. */
interface PricedRequest {
  readonly relayer: Relayer
  readonly actor: Actor
  readonly request: ChainRequest
  readonly draft?: Draft | undefined
  /** The most that it can take from the account. */
  readonly cost: bigint
  /** It would wait for its price: its funds are checked when it is signed. */
  readonly awaitsPrice?: boolean
  /** The transaction that it replaces. */
  readonly replaces?: string
}

/** The part of a dry run that a price decides: the funds of the account, and the budgets. */
interface EvaluatedPrice extends Required<Pick<DryRun, 'results'>> {
  readonly price: DryPrice
  readonly balance: bigint | undefined
  readonly reserved: bigint
  readonly shortage: AppError | undefined
}

/** Compares the price of a request with the balance and the budgets, and locks neither. */
async function evaluatePrice(context: TransactionsContext, priced: PricedRequest): Promise<EvaluatedPrice> {
  const { relayer, request, draft, cost, awaitsPrice, replaces } = priced
  const { chain } = context.runtimeOf(relayer)
  const now = context.clock.now()
  const [balance, reserved, results] = await Promise.all([
    chain.balance(relayer.address),
    reservedBy(context.db, relayer.id, { now: new Date(now), except: replaces }),
    evaluateBudgets(context, priced),
  ])
  const { amounts } = chain.effects(request, relayer.address)
  const value = nativeIn(amounts)
  const known = balanceIn(balance)
  return {
    price: { draft, value, cost },
    balance: known,
    reserved,
    results,
    shortage:
      known === undefined || isForLater(request, now) || awaitsPrice === true
        ? undefined
        : shortOfFunds(relayer, { unit: chain.unit, balance: known, reserved, cost }),
  }
}

interface PricedRun extends Pick<DryRun, 'refusal' | 'unit'> {
  /** The results of the rules that need no price. */
  readonly ofContent: readonly RuleResult[]
  readonly evaluated: EvaluatedPrice
}

/** Joins what was found before a request had a price with what its price decides. */
function pricedRun({ refusal, unit, ofContent, evaluated }: PricedRun) {
  const { shortage, price, balance, reserved, results } = evaluated
  return {
    refusal: refusal ?? shortage ?? refusalIn(results),
    unit,
    price,
    balance,
    reserved,
    results: [...ofContent, ...results],
  }
}

function balanceIn(answer: Answer<bigint>): bigint | undefined {
  return answer.kind === 'ok' ? answer.value : undefined
}

/** The id of a transaction that does not exist yet. */
const NEW = 'new'

async function evaluateBudgets(
  { db, clock, runtimeOf }: TransactionsContext,
  { relayer, actor, request, cost, replaces = NEW }: PricedRequest,
): Promise<RuleResult[]> {
  const content = { id: replaces, request, from: relayer.address, cost }
  const purchase = purchaseOf(runtimeOf(relayer), { relayer, actor }, content)
  if (purchase === undefined) return []
  const { spenders, charge } = purchase
  const now = new Date(clock.now())
  const book = await readLedger(db, { spenders, network: charge.network, now, transactionIds: [replaces] })
  return book.evaluate(purchase)
}
