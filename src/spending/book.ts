import { NATIVE } from '../chains/effects.ts'
import type { Db, Tx } from '../database/db.ts'
import { AppError } from '../errors.ts'
import {
  add,
  askedBy,
  type Charge,
  type Counter,
  evaluateLimits,
  firstStep,
  type Spent,
  type SpentIn,
  spentOf,
  ZERO_SPENT,
} from './budget.ts'
import type { RuleResult } from './evaluate-content.ts'
import { countedSince, type Holding, type HoldingChange, increase, reserve } from './holding.ts'
import type { Spender } from './rules.ts'
import { findHoldings, lockBudgets, readSpent, saveHoldings } from './spending-store.ts'

/** A transaction that is to be charged to its spenders. */
export interface Purchase {
  readonly transactionId: string
  readonly spenders: readonly Spender[]
  readonly charge: Charge
  /** Nothing of it is ever given back. */
  readonly isFinal?: boolean
}

/** The budgets of some spenders, locked until the commit. */
export interface BudgetLedger {
  /** Checks the limits of every spender of a purchase. */
  evaluate(purchase: Purchase): RuleResult[]
  /** Counts a purchase, regardless of the limits. */
  take(purchase: Purchase): void
  /** Stores what was taken. */
  save(): Promise<void>
}

interface LedgerOptions {
  readonly spenders: readonly Spender[]
  /** By type and name. */
  readonly network: string
  readonly now: Date
  /** The transactions that may have been charged before. */
  readonly transactionIds?: readonly string[]
}

/** Returns true if the spender has a limit, so that what it spends is counted. */
export function hasLimits({ rules }: Spender): boolean {
  return (rules.limits ?? []).length > 0
}

/** Locks the budgets of spenders in the database transaction that is going to store what they spend. */
export async function openLedger(tx: Tx, options: LedgerOptions): Promise<BudgetLedger> {
  const subjects = options.spenders.filter(hasLimits).map(({ subject }) => subject)
  const holdings = await lockBudgets(tx, { subjects, transactionIds: options.transactionIds ?? [] })
  const changes: HoldingChange[] = []
  const counts = await readCounts(tx, options, holdings)
  return {
    evaluate: (purchase) => evaluate(counts, purchase),
    take: (purchase) => void changes.push(...take(counts, purchase)),
    save: () => saveHoldings(tx, changes),
  }
}

/** Reads the budgets of spenders without a lock. Another request may spend them at any time. */
export async function readLedger(db: Db, options: LedgerOptions): Promise<Pick<BudgetLedger, 'evaluate'>> {
  const holdings = await findHoldings(db, options.transactionIds ?? [])
  const counts = await readCounts(db, options, holdings)
  return { evaluate: (purchase) => evaluate(counts, purchase) }
}

/** The sums hold what was counted before, and `taken` adds the purchases since. */
interface Counts {
  readonly network: string
  readonly now: Date
  readonly before: SpentIn
  readonly holdings: readonly Holding[]
  readonly taken: Map<string, Spent>
}

async function readCounts(
  db: Db,
  { spenders, network, now }: LedgerOptions,
  holdings: readonly Holding[],
): Promise<Counts> {
  const before = await readSpent(db, askedBy(spenders.filter(hasLimits), network), now)
  return { network, now, before, holdings, taken: new Map() }
}

function evaluate(
  { now, before, holdings, taken }: Counts,
  { transactionId, spenders, charge }: Purchase,
): RuleResult[] {
  const holdingOf = (counter: Counter) => find(holdings, transactionId, counter)
  return spenders.flatMap((spender) =>
    evaluateLimits(spender, charge, {
      spentIn: (counter, period) => add(before(counter, period), taken.get(keyOf(counter)) ?? ZERO_SPENT),
      countedIn: (counter, period) => {
        const known = holdingOf(counter)
        return known === undefined ? ZERO_SPENT : countedSince(known, firstStep(period, now))
      },
      mostOf: (counter) => holdingOf(counter)?.most ?? ZERO_SPENT,
    }),
  )
}

/** Counts a purchase, and returns the changes to store. */
function take(
  { network, now, holdings, taken }: Counts,
  { transactionId, spenders, charge, isFinal = false }: Purchase,
): HoldingChange[] {
  return spenders.filter(hasLimits).flatMap((spender) =>
    countedBy(spender, charge).flatMap(([asset, spent]) => {
      const counter = { subject: spender.subject, network, asset }
      const known = find(holdings, transactionId, counter)
      const change =
        known === undefined
          ? reserve(counter, {
              transactionId,
              version: versionsOf(holdings, transactionId, counter) + 1,
              at: now,
              spent,
              settled: isFinal,
            })
          : increase(known, spent, now)
      taken.set(keyOf(counter), add(taken.get(keyOf(counter)) ?? ZERO_SPENT, spent))
      return change ?? []
    }),
  )
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

/** Only what a limit names is counted. The native currency is always counted, with the fees and the number of transactions. */
function countedBy({ rules }: Spender, charge: Charge): [string, Spent][] {
  const assets = new Set([NATIVE, ...(rules.limits ?? []).map(({ asset }) => asset)])
  return [...spentOf(charge)].filter(([asset]) => assets.has(asset))
}

/** Finds the holding of the version that can still be signed. */
function find(holdings: readonly Holding[], transactionId: string, counter: Counter): Holding | undefined {
  return holdings.find((one) => isOf(one, transactionId, counter) && !one.closed)
}

/** Returns the number of versions that were charged. */
function versionsOf(holdings: readonly Holding[], transactionId: string, counter: Counter): number {
  return Math.max(0, ...holdings.flatMap((one) => (isOf(one, transactionId, counter) ? one.version : [])))
}

function isOf(holding: Holding, transactionId: string, { subject, asset }: Counter): boolean {
  return holding.transactionId === transactionId && holding.subject === subject && holding.asset === asset
}

function keyOf({ subject, asset }: Counter): string {
  return JSON.stringify([subject, asset])
}
