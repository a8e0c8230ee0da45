import type { Actor } from '../../access/principal.ts'
import type { Effects } from '../../chains/effects.ts'
import type { Db } from '../../database/db.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { evaluateApprovals } from '../../spending/approvals.ts'
import { hasLimits, requireAllowed } from '../../spending/ledger.ts'
import type { RuleResult } from '../../spending/rule.ts'
import { evaluateRules } from '../../spending/rule-table.ts'
import { type Spender, subjectOfKey, subjectOfRelayer, userSpender } from '../../spending/rules.ts'
import { findHoldings, findKeySpenders } from '../../spending/spending-store.ts'
import type { TransactionsContext } from '../model/runtime.ts'

/**
 * Returns the owners of the rules that apply to content: the relayer, the sender's API key, and the user that
 * it names, if they have any. The content of the service itself has no sender.
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

/** Returns the spenders that transactions are charged to, as far as they have limits now. */
export async function limitedPayersOf(
  db: Db,
  relayer: Relayer,
  transactionIds: readonly string[],
): Promise<Spender[]> {
  const subjects = new Set((await findHoldings(db, transactionIds)).map(({ subject }) => subject))
  const known = [...limitedSpendersOf(relayer), ...(await findKeySpenders(db, [...subjects]))]
  return known.filter((spender) => subjects.has(spender.subject) && hasLimits(spender))
}

/** Content by its effects, which are read only if a rule needs them, and its sender. */
interface RuledContent {
  readonly actor: Actor
  readonly effects: () => Effects
}

/**
 * Evaluates the rules that need no earlier transaction: those of the relayer, then those of the API key. The
 * content has passed `check`.
 */
export function evaluateContent(
  { clock }: Pick<TransactionsContext, 'clock'>,
  relayer: Relayer,
  { actor, effects, hasIdempotencyKey = true }: RuledContent & { readonly hasIdempotencyKey?: boolean },
): RuleResult[] {
  const spenders = spendersOf(relayer, actor)
  if (spenders.length === 0) return []
  const now = new Date(clock.now())
  const subject = { effects: effects(), network: networkOf(relayer), now, hasIdempotencyKey }
  return spenders.flatMap((spender) => [
    ...evaluateRules('content', spender, subject),
    ...evaluateRules('user', spender, actor),
  ])
}

/** Returns the reasons of the rules for which content would wait for an approval. */
export async function findReasonsToWait(
  db: Db,
  relayer: Relayer,
  { actor, effects }: RuledContent,
): Promise<RuleResult[]> {
  const content = { spenders: spendersOf(relayer, actor), effects }
  const [reasons = []] = await evaluateApprovals(db, networkOf(relayer), [content])
  return reasons
}

/**
 * Refuses to sign a message or typed data under rules, unless they allow it: an order or a permit moves
 * tokens without any transaction.
 * @throws AppError `rule_violated`
 */
export function refuseOpaque(relayer: Relayer, actor: Actor): void {
  requireAllowed(spendersOf(relayer, actor).flatMap((spender) => evaluateRules('signature', spender, {})))
}
