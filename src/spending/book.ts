import type { Transaction } from 'kysely'
import { NATIVE } from '../chains/effects.ts'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import {
  askedBy,
  type Charge,
  type Counter,
  judgeLimits,
  most,
  NOTHING,
  plus,
  type Spent,
  spentOf,
} from './budget.ts'
import { countedSince, type Holding, type HoldingChange, hold, raise } from './holding.ts'
import type { Verdict } from './judge-content.ts'
import { firstStep } from './period.ts'
import type { Period, Spender } from './rules.ts'
import { lockBudgets, readSpent, saveHoldings } from './spending-store.ts'

/** A transaction that is to be charged to its spenders. */
export interface Purchase {
  readonly transactionId: string
  readonly spenders: readonly Spender[]
  readonly charge: Charge
  /** Nothing of it is ever given back. */
  readonly isFinal?: boolean
}

/** The budgets of some spenders, locked until the commit. */
export interface Book {
  /** Asks the limits of every spender of a purchase. */
  judge(purchase: Purchase): Verdict[]
  /** Counts a purchase, whatever the limits say. */
  take(purchase: Purchase): void
  /** Stores what was taken. */
  save(): Promise<void>
}

interface BookOptions {
  readonly spenders: readonly Spender[]
  /** By type and name. */
  readonly network: string
  readonly now: Date
  /** The transactions that may have been charged before. */
  readonly transactionIds?: readonly string[]
}

/** Returns true when the spender has a limit, so that what it spends is counted. */
export function hasLimits({ rules }: Spender): boolean {
  return (rules.limits ?? []).length > 0
}

/** Locks the budgets of spenders in the database transaction that is going to store what they spend. */
export async function openBook(
  tx: Transaction<Schema>,
  { spenders, network, now, transactionIds = [] }: BookOptions,
): Promise<Book> {
  const limited = spenders.filter(hasLimits)
  const held = await lockBudgets(tx, { subjects: limited.map(({ subject }) => subject), transactionIds })
  const before = await readSpent(tx, askedBy(limited, network), now)
  const taken = new Map<string, Spent>()
  const changes: HoldingChange[] = []

  const spentIn = (counter: Counter, period: Period) =>
    plus(before(counter, period), taken.get(keyOf(counter)) ?? NOTHING)

  function take({ transactionId, spenders: payers, charge, isFinal = false }: Purchase): void {
    for (const payer of payers.filter(hasLimits)) {
      for (const [asset, spent] of countedBy(payer, charge)) {
        const counter = { subject: payer.subject, network, asset }
        const known = find(held, transactionId, counter)
        const change =
          known === undefined
            ? hold(counter, { transactionId, at: now, spent, settled: isFinal })
            : raise(known, spent, now)
        if (change === undefined) continue
        changes.push(change)
        taken.set(keyOf(counter), plus(taken.get(keyOf(counter)) ?? NOTHING, spent))
      }
    }
  }

  return {
    judge: ({ transactionId, spenders: payers, charge }) =>
      payers.flatMap((payer) =>
        judgeLimits(payer, charge, {
          spentIn,
          heldIn: (counter, period) => {
            const known = find(held, transactionId, counter)
            return known === undefined ? NOTHING : countedSince(known, firstStep(period, now))
          },
          // Any content that was charged before can still be included, so the highest amounts count from now on.
          altogether: (counter, wanted) => {
            const known = find(held, transactionId, counter)
            return known === undefined ? wanted : most(known.most, wanted)
          },
        }),
      ),
    take,
    save: () => saveHoldings(tx, changes),
  }
}

/**
 * Throws the first verdict that refuses.
 * @throws AppError `rule_violated`
 */
export function requireAllowed(verdicts: readonly Verdict[]): void {
  const error = refusalIn(verdicts)
  if (error !== undefined) throw error
}

/** Returns the error of the first verdict that refuses; undefined when all of them allow. */
export function refusalIn(verdicts: readonly Verdict[]): AppError | undefined {
  const refused = verdicts.find(({ allowed }) => !allowed)
  return refused && new AppError('rule_violated', refused.detail)
}

/** Only what a limit names is counted. The native currency is always counted, with the fees and the number of transactions. */
function countedBy({ rules }: Spender, charge: Charge): [string, Spent][] {
  const assets = new Set([NATIVE, ...(rules.limits ?? []).map(({ asset }) => asset)])
  return [...spentOf(charge)].filter(([asset]) => assets.has(asset))
}

function find(
  held: readonly Holding[],
  transactionId: string,
  { subject, asset }: Counter,
): Holding | undefined {
  return held.find(
    (one) => one.transactionId === transactionId && one.subject === subject && one.asset === asset,
  )
}

function keyOf({ subject, asset }: Counter): string {
  return JSON.stringify([subject, asset])
}
