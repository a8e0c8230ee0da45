import type { Actor } from '../../access/actor.ts'
import type { Effects } from '../../chains/effects.ts'
import type { Db } from '../../database/schema.ts'
import { networkOf } from '../../relayers/network-of.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { evaluateApproval } from '../../spending/evaluate-approval.ts'
import type { RuleResult } from '../../spending/evaluate-content.ts'
import { findKnownReceivers } from '../../spending/known-receivers-store.ts'
import type { Spender } from '../../spending/rules.ts'
import { spendersOf } from '../budgets/evaluate-request.ts'

/** Content, and the sender of it. */
export interface SentContent {
  readonly actor: Actor
  /** Called only when a rule asks. */
  readonly effects: () => Effects
}

/**
 * Asks the rules for approvals of a relayer and of the senders about contents, and returns the reasons of each for which it has to wait. It asks
 * the database only where a rule is about new receivers; a receiver that becomes known meanwhile counts as new.
 */
export async function evaluateApprovals(
  db: Db,
  relayer: Relayer,
  contents: readonly SentContent[],
): Promise<RuleResult[][]> {
  const ruled = contents.map(({ actor, effects }) => {
    const spenders = spendersOf(relayer, actor).filter(({ rules }) => rules.require_approval !== undefined)
    return spenders.length === 0 ? undefined : { spenders, effects: effects() }
  })
  const known = ruled.filter((one) => one !== undefined)
  if (known.length === 0) return contents.map(() => [])
  const network = networkOf(relayer)
  const isKnown = await findKnownReceivers(db, {
    network,
    subjects: [...new Set(known.flatMap(({ spenders }) => subjectsOf(spenders)))],
    receivers: [...new Set(known.flatMap(({ effects }) => effects.receivers))],
  })
  return ruled.map(
    (one) =>
      one?.spenders.flatMap((spender) =>
        evaluateApproval(spender, {
          effects: one.effects,
          network,
          isKnown: (receiver) => isKnown(spender.subject, receiver),
        }),
      ) ?? [],
  )
}

function subjectsOf(spenders: readonly Spender[]): string[] {
  return spenders
    .filter(({ rules }) => rules.require_approval?.new_receivers === true)
    .map(({ subject }) => subject)
}

/**
 * Turns the reasons for which content would have to wait into refusals, for content that cannot wait.
 * @param remedy A sentence that says why it cannot, and what to do.
 */
export function refuseWaiting(results: readonly RuleResult[], remedy: string): RuleResult[] {
  return results.map(({ requiresApproval, ...result }) => ({
    ...result,
    allowed: false,
    detail: `${result.detail} ${remedy}`,
  }))
}
