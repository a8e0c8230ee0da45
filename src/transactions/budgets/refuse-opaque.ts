import type { Actor } from '../../access/actor.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { requireAllowed } from '../../spending/book.ts'
import { evaluateSignature } from '../../spending/evaluate-content.ts'
import { spendersOf } from './spenders-of.ts'

/**
 * Refuses to sign a message or typed data under rules, unless they allow it: an order or a permit moves tokens without any transaction.
 * @throws AppError `rule_violated`
 */
export function refuseOpaque(relayer: Relayer, actor: Actor): void {
  requireAllowed(spendersOf(relayer, actor).map(evaluateSignature))
}
