import type { Actor } from '../../access/actor.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { hasLimits } from '../../spending/book.ts'
import type { Spender } from '../../spending/rules.ts'
import { subjectOfKey, subjectOfRelayer } from '../../spending/subject.ts'

/**
 * Gives those whose rules hold for content: the relayer, and the API key of the sender, as far as they have any. The content of the service
 * itself has no sender.
 */
export function spendersOf({ id, policies }: Relayer, actor?: Actor): Spender[] {
  const ofRelayer = policies.rules && { subject: subjectOfRelayer(id), rules: policies.rules }
  const ofKey = actor?.rules && { subject: subjectOfKey(actor.keyId), rules: actor.rules }
  return [ofRelayer, ofKey].filter((spender) => spender !== undefined)
}

/** Gives those of them whose spending is counted. */
export function limitedSpendersOf(relayer: Relayer, actor?: Actor): Spender[] {
  return spendersOf(relayer, actor).filter(hasLimits)
}
