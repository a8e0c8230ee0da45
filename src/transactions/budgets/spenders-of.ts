import type { Actor } from '../../access/actor.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Spender } from '../../spending/rules.ts'
import { subjectOfKey, subjectOfRelayer } from '../../spending/subject.ts'

/** Gives those whose rules hold for a request: the relayer and the API key, as far as they have any. */
export function spendersOf({ id, policies }: Relayer, actor: Actor): Spender[] {
  const ofRelayer = policies.rules && { subject: subjectOfRelayer(id), rules: policies.rules }
  const ofKey = actor.rules && { subject: subjectOfKey(actor.keyId), rules: actor.rules }
  return [ofRelayer, ofKey].filter((spender) => spender !== undefined)
}
