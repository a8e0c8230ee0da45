import type { Draft } from '../../chains/attempt.ts'
import type { Unit } from '../../chains/chain.ts'
import { nativeIn } from '../../chains/effects.ts'
import type { AppError } from '../../errors.ts'
import { shortOfFunds } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { refuseWaiting } from '../../spending/approvals.ts'
import { readLedger, refusalIn } from '../../spending/ledger.ts'
import type { RuleResult } from '../../spending/rule.ts'
import type { Sending } from '../accept/accept.ts'
import { admitCandidates } from '../accept/admit.ts'
import { prepareContent, withEncodedArgs } from '../accept/checks.ts'
import { type Checked, checkSubmission, evaluate, refusedBy } from '../accept/evaluate.ts'
import { keyReuseError } from '../accept/idempotency.ts'
import { queueProblem } from '../accept/queue-limit.ts'
import { purchaseOf } from '../budgets/charge.ts'
import { findReasonsToWait } from '../budgets/spenders.ts'
import { askBeforeSend } from '../model/before-send.ts'
import { isForLater } from '../model/due.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { planChange } from '../replace/plan-change.ts'
import type { Replacing } from '../replace/replacement.ts'
import {
  evaluateReplacement,
  REPLACEMENT_CANNOT_WAIT,
  replacementRefusal,
} from '../replace/replacement-refusal.ts'
import { reservedBy } from '../store/due-store.ts'
import { findKey } from '../store/idempotency-store.ts'
import { requireTransaction } from '../store/lookups-store.ts'

/**
 * The progress of a dry run. `succeeded`: a node prepared and simulated the request. `refused`: it refused
 * the request. `unknown`: no node answered. `skipped`: no node was queried, because a rule refuses the
 * request or its idempotency key was used before.
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

/**
 * Returns what would happen if the request were sent now. It makes the same queries as a send, and stores
 * nothing.
 */
export async function drySend(
  context: TransactionsContext,
  relayer: Relayer,
  { idempotencyKey, maxQueueSeconds, ...sending }: Sending,
): Promise<DryRun> {
  const { unit } = context.runtimeOf(relayer).chain
  const earlier = idempotencyKey && (await findKey(context.db, relayer.id, idempotencyKey))
  // As for a send, a used key comes before every other rule: a repeated request returns its transaction, even
  // if the relayer is paused.
  const reused = earlier && keyReuseError(earlier, idempotencyKey)
  if (reused) return { refusal: reused, simulation: 'skipped', unit, results: [], logs: [] }
  if (earlier) return { ...repeatedRun(earlier.transactionId), unit }
  const hopeless = await queueProblem(context, relayer, { actor: sending.actor, count: 1, maxQueueSeconds })
  if (hopeless) return { refusal: hopeless, simulation: 'skipped', unit, results: [], logs: [] }
  const checked = await checkSubmission(context, { relayer, idempotencyKey, ...sending })
  if (checked.problem) return { refusal: checked.problem, simulation: 'skipped', unit, results: [], logs: [] }
  return dryChecked(context, checked)
}

/**
 * Decides about a request as a send does, and stores nothing. It goes on after a refusal, so that the caller
 * sees all of them.
 */
async function dryChecked(context: TransactionsContext, checked: Checked): Promise<DryRun> {
  const { relayer, request, actor } = checked.submission
  const { chain } = context.runtimeOf(relayer)
  const { unit } = chain
  const balance = chain.balance(relayer.address)
  const { refusal, prepared, candidate, draft, logs } = await evaluate(context, checked, {
    balance,
    isDryRun: true,
  })
  if (candidate === undefined) {
    const effects = () => chain.effects(request, relayer.address)
    const waiting = await findReasonsToWait(context.db, relayer, { actor, effects })
    return { refusal, simulation: 'refused', unit, results: [...checked.results, ...waiting], logs }
  }
  const [decision] = await admitCandidates(context, [candidate], { isDryRun: true })
  if (decision === undefined) throw new Error('an admission returned fewer decisions than candidates')
  if (decision.kind === 'repeated') return { ...repeatedRun(decision.transactionId), unit }
  const { cost } = candidate.transaction
  return {
    refusal: refusal ?? (decision.kind === 'refused' ? decision.error : undefined),
    simulation: prepared.kind === 'unknown' ? 'unknown' : 'succeeded',
    unit,
    price: { draft, value: nativeIn(chain.effects(request, relayer.address).amounts), cost },
    balance: candidate.balance,
    reserved: decision.reserved,
    results: [...checked.results, ...(decision.results ?? [])],
    logs,
  }
}

/** Returns what would happen to a request whose key was used before. Pure. */
function repeatedRun(transactionId: string): Omit<DryRun, 'unit'> {
  const logs = [
    `This Idempotency-Key was used before: a send would return transaction ${transactionId} and spend nothing.`,
  ]
  return { refusal: undefined, simulation: 'skipped', results: [], logs }
}

/**
 * Returns what would happen if the transaction were replaced now. Only the broadcast shows whether a node
 * accepts the new bytes.
 * @throws AppError `transaction_not_found`
 */
export async function dryReplace(context: TransactionsContext, replacing: Replacing): Promise<DryRun> {
  const { relayer, id, actor } = replacing
  const { chain } = context.runtimeOf(relayer)
  const { unit } = chain
  const request = await withEncodedArgs(chain, replacing.request)
  const change = { ...replacing, request, action: 'replaceTransaction' } as const
  const item = await requireTransaction(context.db, relayer, id)
  const problem = replacementRefusal(context, change, item)
  if (problem) return { refusal: problem, simulation: 'skipped', unit, results: [], logs: [] }
  const ofRules = await evaluateReplacement(context, change)
  const planned = await planChange(context, change, item)
  const effects = () => chain.effects(request, relayer.address)
  const { lane } = item.transaction
  const asked =
    refusalIn(ofRules) === undefined
      ? await askBeforeSend(context, {
          action: 'replace',
          isDryRun: true,
          relayer,
          actor,
          request,
          effects,
          transactionId: id,
          lane,
        })
      : { results: [] }
  const ofContent = [...ofRules, ...refuseWaiting(asked.results, REPLACEMENT_CANNOT_WAIT)]
  const refusal = refusalIn(ofRules) ?? asked.failure ?? refusalIn(ofContent) ?? planned.refusal
  const { plan, simulation } = planned
  if (plan === undefined) return { refusal, simulation, unit, results: ofContent, logs: [] }
  const [funds, ofBudgets] = await Promise.all([
    readFunds(context, relayer, { cost: plan.cost, isLater: !plan.needsFunds, except: id }),
    evaluateBudgets(context, { change, cost: plan.cost }),
  ])
  return {
    refusal: refusal ?? funds.shortage ?? refusalIn(ofBudgets),
    simulation,
    unit,
    price: { draft: plan.draft, value: nativeIn(effects().amounts), cost: plan.cost },
    balance: funds.balance,
    reserved: funds.reserved,
    results: [...ofContent, ...ofBudgets],
    logs: plan.logs,
  }
}

/**
 * Tells what would happen if the transaction were approved now. Its rules allowed it, and its budgets were
 * charged, when it was accepted, so an approval depends on the simulation and the funds alone.
 */
export async function dryApprove(
  context: TransactionsContext,
  relayer: Relayer,
  { request, cost: reservation, awaitsTransaction, after }: Transaction,
): Promise<DryRun> {
  const { chain } = context.runtimeOf(relayer)
  const { unit } = chain
  const now = context.clock.now()
  const [prepared, { shortage, ...funds }] = await Promise.all([
    prepareContent({
      relayer,
      request,
      chain,
      now,
      after: awaitsTransaction === undefined ? undefined : after,
    }),
    readFunds(context, relayer, {
      cost: reservation,
      isLater: isForLater(request, now) || awaitsTransaction !== undefined,
    }),
  ])
  const known = { unit, ...funds, results: [] }
  if (prepared.kind === 'refused')
    return { ...known, refusal: refusedBy(prepared), simulation: 'refused', logs: [] }
  const draft = prepared.kind === 'ok' ? prepared.value.draft : undefined
  const cost = draft === undefined ? reservation : chain.cost(draft)
  return {
    ...known,
    refusal: shortage,
    simulation: prepared.kind === 'unknown' ? 'unknown' : 'succeeded',
    price: { draft, value: nativeIn(chain.effects(request, relayer.address).amounts), cost },
    logs: prepared.kind === 'ok' ? prepared.value.logs : [prepared.detail],
  }
}

/**
 * The money of an account. `shortage`: it cannot pay the cost now; its funds are checked later for content
 * that waits.
 */
interface Funds {
  readonly balance: bigint | undefined
  readonly reserved: bigint
  readonly shortage: AppError | undefined
}

async function readFunds(
  context: TransactionsContext,
  relayer: Relayer,
  { cost, isLater, except }: { readonly cost: bigint; readonly isLater: boolean; readonly except?: string },
): Promise<Funds> {
  const { chain } = context.runtimeOf(relayer)
  const [answer, reserved] = await Promise.all([
    chain.balance(relayer.address),
    reservedBy(context.db, relayer.id, { now: new Date(context.clock.now()), except }),
  ])
  const balance = answer.kind === 'ok' ? answer.value : undefined
  const isKnown = balance !== undefined && !isLater
  const shortage = isKnown ? shortOfFunds(relayer, { unit: chain.unit, balance, reserved, cost }) : undefined
  return { balance, reserved, shortage }
}

async function evaluateBudgets(
  { db, clock, runtimeOf }: TransactionsContext,
  { change: { relayer, actor, request, id }, cost }: { readonly change: Replacing; readonly cost: bigint },
): Promise<RuleResult[]> {
  const content = { id, request, from: relayer.address, cost }
  const purchase = purchaseOf(runtimeOf(relayer), { relayer, actor }, content)
  if (purchase === undefined) return []
  const { spenders, charge } = purchase
  const now = new Date(clock.now())
  const limits = { spenders, network: charge.network }
  const ledger = await readLedger(db, { now, transactionIds: [id], limits })
  return ledger.evaluate(purchase)
}
