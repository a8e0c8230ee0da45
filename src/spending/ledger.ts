import { NATIVE } from '../chains/effects.ts'
import type { Db, Tx } from '../database/db.ts'
import { AppError } from '../errors.ts'
import {
  add,
  type Charge,
  type Counter,
  firstStep,
  type Spent,
  type SpentIn,
  spentOf,
  subtract,
  ZERO_SPENT,
} from './budget.ts'
import { countChanges, type Holding, type HoldingChange, increase, release, reopen } from './holding.ts'
import { askedBy } from './limits.ts'
import type { RuleResult } from './rule.ts'
import { evaluateRules } from './rule-table.ts'
import { PERIODS, type Period, type Spender } from './rules.ts'
import { findHoldings, lockBudgets, readSpent, saveHoldings } from './spending-store.ts'

/** A transaction that is to be charged to its spenders. */
export interface Purchase {
  readonly transactionId: string
  readonly spenders: readonly Spender[]
  readonly charge: Charge
  /** Nothing of it is ever given back. */
  readonly isFinal?: boolean
}

/** The fees that a further attempt of a transaction can cost at most. */
interface Raise {
  readonly transactionId: string
  readonly fees: bigint
  readonly at: Date
}

/**
 * The budgets of some spenders and transactions. What one verb changes, the next one counts, so the changes
 * of one commit are checked together.
 */
interface Ledger {
  /** Checks the limits of every spender of a purchase. */
  evaluate(purchase: Purchase): RuleResult[]
  /** Counts a purchase, regardless of the limits. */
  reserve(purchase: Purchase): void
  /**
   * Counts what a transaction can cost more, regardless of the limits. Returns what the limits of fees say:
   * its other amounts were allowed on acceptance.
   */
  raise(raise: Raise): RuleResult[]
  /** Counts only what a decided transaction took, and releases the rest. */
  settle(transactionId: string, amountTaken: (holding: Holding) => Spent): void
  /** Counts the most of every transaction again, because the chain has reversed its decision. */
  reopen(): void
}

/** A ledger whose budgets are locked until the commit. */
export interface LockedLedger extends Ledger {
  /** Stores the changes. */
  save(): Promise<void>
}

interface LedgerOptions {
  readonly now: Date
  /** The transactions that may have been charged before. */
  readonly transactionIds?: readonly string[]
  /** The spenders whose limits are checked, on a network by type and name. Absent if none are. */
  readonly limits?: { readonly spenders: readonly Spender[]; readonly network: string }
}

/** Returns true if the spender has a limit, so that what it spends is counted. */
export function hasLimits({ rules }: Spender): boolean {
  return (rules.limits ?? []).length > 0
}

/** Locks budgets in the database transaction that is going to store what changes. */
export async function openLedger(tx: Tx, options: LedgerOptions): Promise<LockedLedger> {
  const { limits, transactionIds = [] } = options
  const subjects = (limits?.spenders ?? []).filter(hasLimits).map(({ subject }) => subject)
  const state = await readState(tx, options, await lockBudgets(tx, { subjects, transactionIds }))
  return { ...verbsOf(state), save: () => saveHoldings(tx, [...state.changes.values()]) }
}

/** Reads budgets without a lock. Another request may spend them at any time. */
export async function readLedger(db: Db, options: LedgerOptions): Promise<Ledger> {
  return verbsOf(await readState(db, options, await findHoldings(db, options.transactionIds ?? [])))
}

/**
 * Charges a purchase within the limits.
 * @throws AppError `rule_violated`; nothing may be stored then
 */
export async function spend(tx: Tx, purchase: Purchase, now: Date): Promise<void> {
  const { transactionId, spenders, charge, isFinal = false } = purchase
  const transactionIds = isFinal ? [] : [transactionId]
  const limits = { spenders, network: charge.network }
  const ledger = await openLedger(tx, { now, transactionIds, limits })
  requireAllowed(ledger.evaluate(purchase))
  ledger.reserve(purchase)
  await ledger.save()
}

interface State {
  readonly now: Date
  readonly spenders: readonly Spender[]
  /** The sums that are stored. */
  readonly stored: SpentIn
  /** What the changes add to them, by counter and period. */
  readonly added: Map<string, Spent>
  /** The holdings as they are now, by transaction. */
  readonly holdings: Map<string, Holding[]>
  /** By holding. */
  readonly changes: Map<string, HoldingChange>
}

async function readState(
  db: Db,
  { now, limits }: LedgerOptions,
  holdings: readonly Holding[],
): Promise<State> {
  const spenders = (limits?.spenders ?? []).filter(hasLimits)
  return {
    now,
    spenders,
    stored: await readSpent(db, limits ? askedBy(spenders, limits.network) : [], now),
    added: new Map(),
    holdings: Map.groupBy(holdings, ({ transactionId }) => transactionId),
    changes: new Map(),
  }
}

function verbsOf(state: State): Ledger {
  return {
    evaluate: (purchase) => evaluate(state, purchase),
    reserve: (purchase) => reserve(state, purchase),
    raise: (raise) => raiseFees(state, raise),
    settle: (transactionId, amountTaken) => {
      const holdings = state.holdings.get(transactionId) ?? []
      for (const holding of holdings.filter(({ settled }) => !settled)) {
        // The chain has one version at most, and the proofs say that it is not an earlier one.
        const isNewest = holding.version === newestVersion(holdings, holding)
        change(state, holding, release(holding, isNewest ? amountTaken(holding) : ZERO_SPENT))
      }
    },
    reopen: () => {
      for (const holding of [...state.holdings.values()].flat()) change(state, holding, reopen(holding))
    },
  }
}

function evaluate(
  { now, stored, added, holdings }: State,
  { transactionId, spenders, charge }: Purchase,
): RuleResult[] {
  const holdingOf = (counter: Counter) => findOpen(holdings.get(transactionId), counter)
  // The sums already include the holding of the transaction, so only the difference is added.
  const spentIn = (counter: Counter, period: Period) => {
    const all = add(stored(counter, period), added.get(keyOf(counter, period)) ?? ZERO_SPENT)
    const own = holdingOf(counter)
    return own && own.at >= firstStep(period, now) ? subtract(all, own.counted) : all
  }
  const mostOf = (counter: Counter) => holdingOf(counter)?.most ?? ZERO_SPENT
  return spenders.flatMap((spender) => evaluateRules('charge', spender, { charge, spentIn, mostOf }))
}

function reserve(state: State, { transactionId, spenders, charge, isFinal = false }: Purchase): void {
  const { now, holdings } = state
  for (const { subject, rules } of spenders.filter(hasLimits)) {
    // Only what a limit names is counted. The native currency is always counted, with the fees and the number
    // of transactions.
    const assets = new Set([NATIVE, ...(rules.limits ?? []).map(({ asset }) => asset)])
    for (const [asset, spent] of [...spentOf(charge)].filter(([one]) => assets.has(one))) {
      const counter = { subject, network: charge.network, asset }
      const known = holdings.get(transactionId)
      const before = findOpen(known, counter)
      const version = newestVersion(known, counter) + 1
      const begun = { ...counter, transactionId, version, closed: false, at: now, settled: isFinal }
      change(state, before, before ? increase(before, spent, now) : { ...begun, most: spent, counted: spent })
    }
  }
}

function raiseFees(state: State, { transactionId, fees, at }: Raise): RuleResult[] {
  const open = state.holdings.get(transactionId)?.filter(({ asset, closed }) => asset === NATIVE && !closed)
  return (open ?? []).flatMap((holding) => {
    const raised = increase(holding, { ...ZERO_SPENT, fees, count: 1 }, at)
    if (raised === holding) return []
    const spenders = state.spenders.filter(({ subject }) => subject === holding.subject)
    const charge = { network: holding.network, amounts: [], fees: raised.most.fees }
    const results = evaluate(state, { transactionId, spenders, charge })
    change(state, holding, raised)
    return results.filter(({ rule }) => rule.endsWith('.fees'))
  })
}

/** From now on, the change counts. */
function change({ now, added, holdings, changes }: State, before: Holding | undefined, after: Holding): void {
  if (before === after) return
  const { transactionId, subject, asset, version } = after
  const others = (holdings.get(transactionId) ?? []).filter((one) => one !== before)
  holdings.set(transactionId, [...others, after])
  const key = JSON.stringify([transactionId, subject, asset, version])
  changes.set(key, { before: changes.has(key) ? changes.get(key)?.before : before, after })
  for (const { at, spent, ...counter } of countChanges({ before, after }))
    for (const period of PERIODS.filter((one) => at >= firstStep(one, now))) {
      const sum = keyOf(counter, period)
      added.set(sum, add(added.get(sum) ?? ZERO_SPENT, spent))
    }
}

/**
 * Throws the first result that refuses.
 * @throws AppError `rule_violated`
 */
export function requireAllowed(results: readonly RuleResult[]): void {
  const error = refusalIn(results)
  if (error !== undefined) throw error
}

/** Returns the error of the first result that refuses; undefined if all of them allow. */
export function refusalIn(results: readonly RuleResult[]): AppError | undefined {
  const refused = results.find(({ allowed }) => !allowed)
  return refused && new AppError('rule_violated', refused.detail)
}

/** Finds the holding of the version that can still be signed. */
function findOpen(holdings: readonly Holding[] = [], counter: Counter): Holding | undefined {
  return holdings.find((one) => isOf(one, counter) && !one.closed)
}

/** Returns the version that was charged last; 0 if there is none. */
function newestVersion(holdings: readonly Holding[] = [], counter: Counter): number {
  return Math.max(0, ...holdings.flatMap((one) => (isOf(one, counter) ? one.version : [])))
}

function isOf(holding: Holding, { subject, asset }: Counter): boolean {
  return holding.subject === subject && holding.asset === asset
}

function keyOf({ subject, network, asset }: Counter, period: Period): string {
  return JSON.stringify([subject, network, asset, period])
}
