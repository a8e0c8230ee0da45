import { randomUUID } from 'node:crypto'
import type { Actor } from '../../access/principal.ts'
import type { Reviewed } from '../../chains/chain.ts'
import { type Effects, nativeIn } from '../../chains/effects.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { refuseWaiting } from '../../spending/approvals.ts'
import type { Charge } from '../../spending/budget.ts'
import { openLedger, type Purchase, requireAllowed, spend } from '../../spending/ledger.ts'
import { askBeforeSend, type ProposedContent } from '../model/before-send.ts'
import type { RelayerRuntime, TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { evaluateContent, findReasonsToWait, limitedSpendersOf } from './spenders.ts'

/** Content by what it moves, and the most that it can take from the account in the native currency. */
interface Priced {
  readonly effects: Pick<Effects, 'amounts'>
  readonly cost: bigint
}

/**
 * Returns the maximum that content can spend. All costs besides what its bytes move count as fees: gas,
 * priority, rent.
 */
export function chargeOf(relayer: Relayer, { effects: { amounts }, cost }: Priced): Charge {
  return { network: networkOf(relayer), amounts, fees: feesIn(cost, nativeIn(amounts)) }
}

/** Returns the part of a cost that is not the value; 0 while the cost is not known. */
export function feesIn(cost: bigint, value: bigint): bigint {
  return cost > value ? cost - value : 0n
}

/** The relayer of a transaction, and the caller who sends it; the service itself is no caller. */
interface Sender {
  readonly relayer: Relayer
  readonly actor?: Actor
}

/** Returns what a transaction takes from the budgets of its spenders; undefined if none has a limit. */
export function purchaseOf(
  { chain }: RelayerRuntime,
  { relayer, actor }: Sender,
  { id, request, from: address, cost }: Pick<Transaction, 'id' | 'request' | 'from' | 'cost'>,
): Purchase | undefined {
  const spenders = limitedSpendersOf(relayer, actor)
  if (spenders.length === 0) return undefined
  const effects = chain.effects(request, address)
  return { transactionId: id, spenders, charge: chargeOf(relayer, { effects, cost }) }
}

/** Returns true if a relayer, or the caller who sends or replaces, has a limit. */
export function isLimited({ relayer, actor }: Sender): boolean {
  return limitedSpendersOf(relayer, actor).length > 0
}

/**
 * Begins to count transactions of the service itself. Their fees follow when they are signed. No limit is
 * checked: others wait for them.
 */
export async function chargeOwn(
  tx: Tx,
  relayer: Relayer,
  { transactions, now }: { readonly transactions: readonly Transaction[]; readonly now: Date },
): Promise<void> {
  const spenders = limitedSpendersOf(relayer)
  if (spenders.length === 0 || transactions.length === 0) return
  const charge = { network: networkOf(relayer), amounts: [], fees: 0n }
  const ledger = await openLedger(tx, { now, limits: { spenders, network: charge.network } })
  for (const { id } of transactions) ledger.reserve({ transactionId: id, spenders, charge })
  await ledger.save()
}

/** A requested signature, and its charge. */
interface Signing extends Pick<ProposedContent, 'relayer' | 'actor' | 'action' | 'request'> {
  /** Writes what must be in the commit of the charge. There is such a commit even if nothing is charged. */
  readonly record?: (tx: Tx) => Promise<void>
}

/**
 * Charges content that is signed and not sent. The service never learns what happens to it, so all of it
 * counts forever. Call it before the signing: a crash in between has charged what was never signed, and not
 * the other way round.
 * @throws AppError `rule_violated`
 */
export async function chargeSignature(
  context: TransactionsContext,
  { relayer, actor, action, request, record }: Signing,
  { effects, cost }: Pick<Reviewed, 'effects' | 'cost'>,
): Promise<void> {
  const content = { actor, effects: () => effects }
  requireAllowed(evaluateContent(context, relayer, content))
  requireAllowed(refuseWaiting(await findReasonsToWait(context.db, relayer, content), CANNOT_WAIT))
  const asked = await askBeforeSend(context, { ...content, action, relayer, request })
  if (asked.failure) throw asked.failure
  requireAllowed(refuseWaiting(asked.results, CANNOT_WAIT))
  const spenders = limitedSpendersOf(relayer, actor)
  if (spenders.length === 0 && record === undefined) return
  const charge = chargeOf(relayer, { effects, cost })
  const purchase = { transactionId: `signature:${randomUUID()}`, spenders, charge, isFinal: true }
  const now = new Date(context.clock.now())
  await transact(context.db, async (tx) => {
    if (spenders.length > 0) await spend(tx, purchase, now)
    await record?.(tx)
  })
}

const CANNOT_WAIT = 'A signature cannot wait: send the transaction instead.'
