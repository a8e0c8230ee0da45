import { randomUUID } from 'node:crypto'
import type { Actor } from '../../access/actor.ts'
import type { Reviewed } from '../../chains/chain.ts'
import type { Tx } from '../../database/schema.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { openBook, requireAllowed } from '../../spending/book.ts'
import type { Charge } from '../../spending/budget.ts'
import type { Spender } from '../../spending/rules.ts'
import { evaluateApprovals, refuseWaiting } from '../approvals/evaluate-approvals.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { chargeOf } from './charge-of.ts'
import { evaluateEffects } from './evaluate-request.ts'
import { limitedSpendersOf } from './spenders-of.ts'

/** A signature that a caller wants, and its charge. */
interface Signing {
  readonly relayer: Relayer
  readonly actor: Actor
  /** Writes what has to be in the commit of the charge. There is such a commit even where nothing is charged. */
  readonly record?: (tx: Tx) => Promise<void>
}

/**
 * Charges content that is signed and not sent. The service never learns what becomes of it, so all of it counts for ever. Call it before
 * the signing: a crash in between has charged what was never signed, and not the other way round.
 * @throws AppError `rule_violated`
 */
export async function chargeSignature(
  context: TransactionsContext,
  { relayer, actor, record }: Signing,
  { effects, cost }: Pick<Reviewed, 'effects' | 'cost'>,
): Promise<void> {
  requireAllowed(evaluateEffects(context, relayer, { effects, actor, hasIdempotencyKey: true }))
  const [waiting = []] = await evaluateApprovals(context.db, relayer, [{ actor, effects: () => effects }])
  requireAllowed(refuseWaiting(waiting, 'A signature cannot wait: send the transaction instead.'))
  const spenders = limitedSpendersOf(relayer, actor)
  if (spenders.length === 0 && record === undefined) return
  const charge = chargeOf(relayer, { effects, cost })
  const now = new Date(context.clock.now())
  await context.db.transaction().execute(async (tx) => {
    if (spenders.length > 0) await spend(tx, { spenders, charge, now })
    await record?.(tx)
  })
}

interface Spending {
  readonly spenders: readonly Spender[]
  readonly charge: Charge
  readonly now: Date
}

async function spend(tx: Tx, { spenders, charge, now }: Spending): Promise<void> {
  const book = await openBook(tx, { spenders, network: charge.network, now })
  const purchase = { transactionId: `signature:${randomUUID()}`, spenders, charge, isFinal: true } as const
  requireAllowed(book.evaluate(purchase))
  book.take(purchase)
  await book.save()
}
