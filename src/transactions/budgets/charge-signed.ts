import type { Attempt, Draft } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import { nativeIn } from '../../chains/effects.ts'
import type { Db, Tx } from '../../database/db.ts'
import { networkId } from '../../networks/network.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { openLedger, type Purchase, readLedger, refusalIn, requireAllowed } from '../../spending/ledger.ts'
import { contentKind, isNoop } from '../model/attempts.ts'
import type { RelayerRuntime } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { feesIn } from './charge.ts'
import { limitedPayersOf } from './spenders.ts'

/** A transaction, and the attempt that was just signed for it. */
interface SignedNow {
  readonly transaction: Transaction
  readonly attempt: Attempt
  /** With the new one. */
  readonly attempts: readonly Attempt[]
}

interface Raising {
  readonly signed: readonly SignedNow[]
  readonly now: Date
  /** New content that the attempt has, which must be within the budgets. */
  readonly purchase?: Purchase | undefined
  /** The relayer of an automatic raise, which must be within the budgets. */
  readonly raisedBy?: Relayer | undefined
}

/**
 * Counts what an attempt can cost more than the ones before it: a higher fee, or the fee of a no-op. Only new
 * content and an automatic raise are checked against the budgets: a raise can wait, because the attempts
 * before it can still be included. A no-op and the first attempt cannot, because a nonce without them would
 * block all that come after it.
 * @throws AppError `rule_violated`; nothing may be stored then
 */
export async function chargeSigned(
  tx: Tx,
  { chain, network }: RelayerRuntime,
  { signed, now, purchase, raisedBy }: Raising,
): Promise<void> {
  const budgeted = signed.filter(({ transaction }) => transaction.isBudgeted)
  if (budgeted.length === 0) return
  const transactionIds = budgeted.map(({ transaction }) => transaction.id)
  const ofRaise = raisedBy ? await limitedPayersOf(tx, raisedBy, transactionIds) : []
  const limits = { spenders: purchase?.spenders ?? ofRaise, network: networkId(network) }
  const ledger = await openLedger(tx, { now, transactionIds, limits })
  for (const { transaction, attempt, attempts } of budgeted) {
    const { draft, number, signedAt: at } = attempt
    const fees = feesOf(chain, { transaction, attempts, draft }, number)
    const results = ledger.raise({ transactionId: transaction.id, fees, at })
    if (raisedBy) requireAllowed(results)
  }
  if (purchase) {
    requireAllowed(ledger.evaluate(purchase))
    ledger.reserve(purchase)
  }
  await ledger.save()
}

interface Signing {
  readonly transaction: Transaction
  readonly attempts: readonly Attempt[]
  /** The content of the newest attempt at a higher fee. */
  readonly draft: Draft
}

/**
 * The part of the cost of a draft that is not what its bytes move. It has the content of the attempt with
 * this number.
 */
function feesOf(
  chain: Chain,
  { transaction: { request, from }, attempts, draft }: Signing,
  number: number | undefined,
): bigint {
  const { amounts } = chain.effects(request, from)
  const kind = contentKind(attempts, number)
  const value = kind !== undefined && isNoop(kind) ? 0n : nativeIn(amounts)
  return feesIn(chain.cost(draft), value)
}

/**
 * Returns the sentence about the first budget that does not allow a raise to this draft; undefined if all do.
 * It locks nothing.
 */
export async function findRaiseRefusal(
  db: Db,
  { chain, relayer, now }: { readonly chain: Chain; readonly relayer: Relayer; readonly now: Date },
  signing: Signing,
): Promise<string | undefined> {
  const { id, isBudgeted, currentAttempt } = signing.transaction
  if (!isBudgeted) return undefined
  const transactionIds = [id]
  const spenders = await limitedPayersOf(db, relayer, transactionIds)
  const limits = { spenders, network: networkOf(relayer) }
  const ledger = await readLedger(db, { now, transactionIds, limits })
  const fees = feesOf(chain, signing, currentAttempt)
  return refusalIn(ledger.raise({ transactionId: id, fees, at: now }))?.detail
}
