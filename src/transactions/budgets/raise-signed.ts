import type { Attempt, Draft } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import { NATIVE, nativeIn } from '../../chains/effects.ts'
import type { Db, Tx } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { hasLimits } from '../../spending/book.ts'
import { askedBy, evaluateLimits, firstStep, ZERO_SPENT } from '../../spending/budget.ts'
import { countedSince, type Holding, type HoldingChange, increase } from '../../spending/holding.ts'
import type { Spender } from '../../spending/rules.ts'
import {
  findHoldings,
  findKeySpenders,
  lockBudgets,
  readSpent,
  saveHoldings,
} from '../../spending/spending-store.ts'
import { contentKind, isNoop } from '../model/attempts.ts'
import type { RelayerRuntime } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { feesIn } from './charge.ts'
import { limitedSpendersOf } from './evaluate-request.ts'

/** A transaction, and the attempt that was just signed for it. */
interface SignedNow {
  readonly transaction: Transaction
  readonly attempt: Attempt
  /** With the new one. */
  readonly attempts: readonly Attempt[]
}

interface Raising {
  readonly signed: readonly SignedNow[]
  /** The spenders that the same database transaction charges afterwards; see `lockBudgets`. */
  readonly payers?: readonly Spender[] | undefined
  /** An automatic raise, which must be within the budgets. */
  readonly raisedBy?: { readonly relayer: Relayer; readonly now: Date } | undefined
}

/**
 * Counts what an attempt can cost more than the ones before it: a higher fee, or the fee of a no-op. Only an automatic raise is checked
 * against the budgets: it can wait, because the attempts before it can still be included. A no-op and the first attempt cannot, because a
 * nonce without them would block all that come after it.
 * @throws AppError `rule_violated` for such a raise; nothing may be stored then
 */
export async function raiseSigned(
  tx: Tx,
  { chain }: RelayerRuntime,
  { signed, payers = [], raisedBy }: Raising,
): Promise<void> {
  const budgeted = signed.filter(({ transaction }) => transaction.isBudgeted)
  if (budgeted.length === 0) return
  const byId = new Map(budgeted.map((item) => [item.transaction.id, item]))
  const holdings = await lockBudgets(tx, {
    subjects: payers.filter(hasLimits).map(({ subject }) => subject),
    transactionIds: [...byId.keys()],
  })
  const changes: HoldingChange[] = []
  for (const holding of holdings) {
    const item = byId.get(holding.transactionId)
    if (item === undefined || holding.asset !== NATIVE || holding.closed) continue
    const { transaction, attempt, attempts } = item
    const fees = feesOf(chain, {
      transaction,
      draft: attempt.draft,
      kind: contentKind(attempts, attempt.number),
    })
    const change = increase(holding, { ...ZERO_SPENT, fees, count: 1 }, attempt.signedAt)
    if (change !== undefined) changes.push(change)
  }
  if (raisedBy !== undefined) await requireWithinBudgets(tx, raisedBy, changes)
  await saveHoldings(tx, changes)
}

/** The part of a cost that content of this kind adds to what its bytes move. */
function feesOf(
  chain: Chain,
  {
    transaction,
    draft,
    kind,
  }: Pick<Signing, 'transaction' | 'draft'> & { readonly kind: Attempt['kind'] | undefined },
): bigint {
  const { amounts } = chain.effects(transaction.request, transaction.from)
  const value = kind !== undefined && isNoop(kind) ? 0n : nativeIn(amounts)
  return feesIn(chain.cost(draft), value)
}

async function requireWithinBudgets(
  tx: Tx,
  { relayer, now }: { readonly relayer: Relayer; readonly now: Date },
  changes: readonly HoldingChange[],
): Promise<void> {
  const holdings = changes.map(({ holding }) => holding)
  const refusal = await refusalOfFees(tx, { relayer, now }, holdings)
  if (refusal !== undefined) throw new AppError('rule_violated', refusal)
}

interface Signing {
  readonly transaction: Transaction
  readonly attempts: readonly Attempt[]
  /** The content of the newest attempt at a higher fee. */
  readonly draft: Draft
}

/** Returns the sentence about the first budget that does not allow a raise to this draft; undefined if all do. It locks nothing. */
export async function findRaiseRefusal(
  db: Db,
  { chain, relayer, now }: { readonly chain: Chain; readonly relayer: Relayer; readonly now: Date },
  { transaction, attempts, draft }: Signing,
): Promise<string | undefined> {
  if (!transaction.isBudgeted) return undefined
  const holdings = await findHoldings(db, [transaction.id])
  const fees = feesOf(chain, { transaction, draft, kind: contentKind(attempts, transaction.currentAttempt) })
  const raised = holdings.flatMap((holding) =>
    holding.asset === NATIVE && !holding.closed
      ? (increase(holding, { ...ZERO_SPENT, fees, count: 1 }, now)?.holding ?? [])
      : [],
  )
  return refusalOfFees(db, { relayer, now }, raised)
}

/** Checks the fee limits for holdings that were raised and are not stored yet. Their other amounts were allowed on acceptance. */
async function refusalOfFees(
  db: Db,
  { relayer, now }: { readonly relayer: Relayer; readonly now: Date },
  raised: readonly Holding[],
): Promise<string | undefined> {
  if (raised.length === 0) return undefined
  const network = networkOf(relayer)
  const spenders = await limitedAmong(db, relayer, raised)
  const spentIn = await readSpent(db, askedBy(spenders, network), now)
  const stored = await findHoldings(db, [...new Set(raised.map(({ transactionId }) => transactionId))])
  for (const holding of raised) {
    const spender = spenders.find(({ subject }) => subject === holding.subject)
    if (spender === undefined) continue
    const before = stored.find(
      (one) =>
        one.transactionId === holding.transactionId &&
        isSameCounter(one, holding) &&
        one.version === holding.version,
    )
    const results = evaluateLimits(
      spender,
      { network, amounts: [], fees: holding.most.fees },
      {
        spentIn,
        countedIn: (_, period) =>
          before === undefined ? ZERO_SPENT : countedSince(before, firstStep(period, now)),
      },
    )
    const refused = results.find(({ allowed, rule }) => !allowed && rule.endsWith('.fees'))
    if (refused !== undefined) return refused.detail
  }
  return undefined
}

function isSameCounter(one: Holding, other: Holding): boolean {
  return one.subject === other.subject && one.asset === other.asset
}

/** Returns those of the holdings' spenders that currently have limits. */
export async function limitedAmong(
  db: Db,
  relayer: Relayer,
  holdings: readonly Holding[],
): Promise<Spender[]> {
  const subjects = new Set(holdings.map(({ subject }) => subject))
  const ofKeys = await findKeySpenders(db, [...subjects])
  const known = [...limitedSpendersOf(relayer), ...ofKeys]
  return known.filter((spender) => subjects.has(spender.subject) && hasLimits(spender))
}
