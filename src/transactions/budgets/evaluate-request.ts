import type { Actor } from '../../access/principal.ts'
import type { Effects } from '../../chains/effects.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { hasLimits, requireAllowed } from '../../spending/book.ts'
import { evaluateContent, evaluateSignature, type RuleResult } from '../../spending/evaluate-content.ts'
import { type Spender, subjectOfKey, subjectOfRelayer, userSpender } from '../../spending/rules.ts'
import type { TransactionsContext } from '../model/runtime.ts'

/**
 * Returns the owners of the rules that apply to content: the relayer, the sender's API key, and the user that it names, if they have any. The
 * content of the service itself has no sender.
 */
export function spendersOf({ id, policies }: Relayer, actor?: Actor): Spender[] {
  const ofRelayer = policies.rules && { subject: subjectOfRelayer(poolIdOf(id)), rules: policies.rules }
  const ofKey = actor?.rules && { subject: subjectOfKey(actor.keyId), rules: actor.rules }
  const ofUser =
    actor?.rules && actor.userId !== undefined
      ? userSpender(actor.keyId, actor.userId, actor.rules)
      : undefined
  return [ofRelayer, ofKey, ofUser].filter((spender) => spender !== undefined)
}

/** Returns those of them whose spending is counted. */
export function limitedSpendersOf(relayer: Relayer, actor?: Actor): Spender[] {
  return spendersOf(relayer, actor).filter(hasLimits)
}

/** A request, and its sender. */
export interface RuledRequest {
  readonly request: ChainRequest
  readonly actor: Actor
  /** True also where an operation has no such key. */
  readonly hasIdempotencyKey: boolean
}

/** Content by its effects, and its sender. */
interface RuledEffects extends Omit<RuledRequest, 'request'> {
  readonly effects: Effects
}

/** Evaluates the rules that need no earlier transaction: those of the relayer, then those of the API key. The request has passed `check`. */
export function evaluateRequest(
  context: TransactionsContext,
  relayer: Relayer,
  { request, ...ruled }: RuledRequest,
): RuleResult[] {
  if (spendersOf(relayer, ruled.actor).length === 0) return []
  const effects = context.runtimeOf(relayer).chain.effects(request, relayer.address)
  return evaluateEffects(context, relayer, { ...ruled, effects })
}

/** Does the same for content whose effects were read. */
export function evaluateEffects(
  { clock }: Pick<TransactionsContext, 'clock'>,
  relayer: Relayer,
  { effects, actor, hasIdempotencyKey }: RuledEffects,
): RuleResult[] {
  const subject = {
    effects,
    network: networkOf(relayer),
    now: new Date(clock.now()),
    hasIdempotencyKey,
    userId: actor.userId,
  }
  return spendersOf(relayer, actor).flatMap((spender) => evaluateContent(spender, subject))
}

/**
 * Refuses to sign a message or typed data under rules, unless they allow it: an order or a permit moves tokens without any transaction.
 * @throws AppError `rule_violated`
 */
export function refuseOpaque(relayer: Relayer, actor: Actor): void {
  requireAllowed(spendersOf(relayer, actor).map(evaluateSignature))
}
