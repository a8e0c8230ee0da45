import type { Actor } from '../../access/actor.ts'
import type { Effects } from '../../chains/effects.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { networkOf } from '../../relayers/network-of.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { evaluateContent, type RuleResult } from '../../spending/evaluate-content.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { spendersOf } from './spenders-of.ts'

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

/** Asks the rules that need no earlier transaction: those of the relayer, then those of the API key. The request has passed `check`. */
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
  const subject = { effects, network: networkOf(relayer), now: new Date(clock.now()), hasIdempotencyKey }
  return spendersOf(relayer, actor).flatMap((spender) => evaluateContent(spender, subject))
}
