import type { Effects } from '../chains/effects.ts'
import type { Db } from '../database/db.ts'
import { findKnownReceivers } from './known-receivers-store.ts'
import type { RuleResult } from './rule.ts'
import { evaluateRules } from './rule-table.ts'
import type { Spender } from './rules.ts'

/** The default of the longest time that a transaction waits for an approval, in seconds: a day. */
const DEFAULT_EXPIRY_SECONDS = 86_400

/** Content, and the spenders whose rules can require an approval of it. */
interface SpentContent {
  readonly spenders: readonly Spender[]
  /** Called only if a rule needs it. */
  readonly effects: () => Effects
}

/**
 * Evaluates the rules for approvals for contents on one network, and returns the reasons of each to wait. It
 * uses the database only if a rule is about new receivers; a receiver that becomes known in the meantime
 * counts as new.
 */
export async function evaluateApprovals(
  db: Db,
  network: string,
  contents: readonly SpentContent[],
): Promise<RuleResult[][]> {
  const ruled = contents.map(({ spenders, effects }) => {
    const asking = spenders.filter(({ rules }) => rules.require_approval !== undefined)
    return { spenders: asking, effects: asking.length === 0 ? undefined : effects() }
  })
  const ofReceivers = ruled.flatMap(({ spenders }) =>
    spenders.filter(({ rules }) => rules.require_approval?.new_receivers === true),
  )
  const isKnown = await findKnownReceivers(db, {
    network,
    subjects: [...new Set(ofReceivers.map(({ subject }) => subject))],
    receivers: [...new Set(ruled.flatMap(({ effects }) => effects?.receivers ?? []))],
  })
  return ruled.map(({ spenders, effects }) =>
    spenders.flatMap((spender) => {
      if (effects === undefined) return []
      const { subject } = spender
      const reviewed = { effects, network, isKnown: (receiver: string) => isKnown(subject, receiver) }
      return evaluateRules('approval', spender, reviewed)
    }),
  )
}

/**
 * Turns the reasons for which content would have to wait into refusals, for content that cannot wait.
 * @param remedy A sentence that says why it cannot, and what to do.
 */
export function refuseWaiting(results: readonly RuleResult[], remedy: string): RuleResult[] {
  return results.map(({ requiresApproval, ...result }) =>
    requiresApproval === true ? { ...result, allowed: false, detail: `${result.detail} ${remedy}` } : result,
  )
}

/**
 * Returns the shortest time of the spenders whose rules require the approval, in seconds. Others than
 * spenders have no time of their own.
 */
export function expirySeconds(spenders: readonly Spender[], results: readonly RuleResult[]): number {
  const asking = new Set(results.map(({ subject }) => subject))
  const times = spenders
    .filter(({ subject }) => asking.has(subject))
    .map(({ rules }) => rules.require_approval?.expires_after_seconds ?? DEFAULT_EXPIRY_SECONDS)
  return times.length === 0 ? DEFAULT_EXPIRY_SECONDS : Math.min(...times)
}
