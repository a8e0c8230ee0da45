import { randomUUID } from 'node:crypto'
import type { Actor } from '../../access/actor.ts'
import type { Reviewed } from '../../chains/chain.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { openBook, requireAllowed } from '../../spending/book.ts'
import { evaluateApprovals, refuseWaiting } from '../approvals/evaluate-approvals.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { chargeOf } from './charge-of.ts'
import { evaluateEffects } from './evaluate-request.ts'
import { limitedSpendersOf } from './spenders-of.ts'

/**
 * Charges a transaction that is signed and not sent. The service never learns what becomes of it, so all of it counts for ever. Call it before
 * the signing: a crash in between has charged what was never signed, and not the other way round.
 * @throws AppError `rule_violated`
 */
export async function chargeSignature(
  context: TransactionsContext,
  { relayer, actor }: { readonly relayer: Relayer; readonly actor: Actor },
  { effects, cost }: Pick<Reviewed, 'effects' | 'cost'>,
): Promise<void> {
  requireAllowed(evaluateEffects(context, relayer, { effects, actor, hasIdempotencyKey: true }))
  const [waiting = []] = await evaluateApprovals(context.db, relayer, [{ actor, effects: () => effects }])
  requireAllowed(refuseWaiting(waiting, 'A signature cannot wait: send the transaction instead.'))
  const spenders = limitedSpendersOf(relayer, actor)
  if (spenders.length === 0) return
  const charge = chargeOf(relayer, { effects, cost })
  await context.db.transaction().execute(async (tx) => {
    const book = await openBook(tx, { spenders, network: charge.network, now: new Date(context.clock.now()) })
    const purchase = { transactionId: `signature:${randomUUID()}`, spenders, charge, isFinal: true } as const
    requireAllowed(book.evaluate(purchase))
    book.take(purchase)
    await book.save()
  })
}
