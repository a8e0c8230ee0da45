import { randomUUID } from 'node:crypto'
import type { Actor } from '../../access/actor.ts'
import type { Reviewed } from '../../chains/chain.ts'
import { NATIVE } from '../../chains/effects.ts'
import { networkId } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { hasLimits, openBook, requireAllowed } from '../../spending/book.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { evaluateEffects } from './evaluate-request.ts'
import { spendersOf } from './spenders-of.ts'

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
  const spenders = spendersOf(relayer, actor).filter(hasLimits)
  if (spenders.length === 0) return
  const network = networkId({ type: relayer.networkType, name: relayer.network })
  const value = effects.amounts.find(({ asset }) => asset === NATIVE)?.value ?? 0n
  const charge = { network, amounts: effects.amounts, fees: cost > value ? cost - value : 0n }
  await context.db.transaction().execute(async (tx) => {
    const book = await openBook(tx, { spenders, network, now: new Date(context.clock.now()) })
    const purchase = { transactionId: `signature:${randomUUID()}`, spenders, charge, isFinal: true } as const
    requireAllowed(book.evaluate(purchase))
    book.take(purchase)
    await book.save()
  })
}
