import type { Effects } from '../chains/effects.ts'
import { concerns, describeUnread, findUnread, type RuleResult, resultOf } from './evaluate-content.ts'
import type { ApprovalRule, Spender } from './rules.ts'

/** Content, as the rule for approvals sees it. */
interface Reviewed {
  readonly effects: Effects
  /** By type and name. */
  readonly network: string
  /** Returns true if an approved transaction of the spender has paid the receiver on this network. */
  readonly isKnown: (receiver: string) => boolean
}

/** A sentence about many receivers names this many. */
const MOST_NAMED = 3

/** The rule for new receivers, by its path. */
export const NEW_RECEIVERS = 'require_approval.new_receivers'

/** Returns one result for each reason for which content waits for an approval; none if it does not. Pure. */
export function evaluateApproval(spender: Spender, reviewed: Reviewed): RuleResult[] {
  const rule = spender.rules.require_approval
  if (rule === undefined) return []
  if (rule.above === undefined && rule.new_receivers !== true)
    return [waits(spender, 'require_approval', 'every transaction needs an approval')]
  return [
    ...evaluateAmounts(spender, rule, reviewed),
    ...evaluateReceivers(spender, rule, reviewed),
    ...evaluateUnread(spender, rule, reviewed),
  ]
}

function evaluateAmounts(
  spender: Spender,
  { above = [] }: ApprovalRule,
  { effects, network }: Reviewed,
): RuleResult[] {
  return above.flatMap((threshold, index) => {
    const { asset, value } = threshold
    const moved = effects.amounts.find((amount) => amount.asset === asset)?.value ?? 0n
    if (moved <= value || !concerns(threshold, network)) return []
    const detail = `a value above ${value} ${asset} on ${network} needs an approval, and this transaction moves ${moved}`
    return [waits(spender, `require_approval.above[${index}]`, detail)]
  })
}

function evaluateReceivers(
  spender: Spender,
  rule: ApprovalRule,
  { effects, network, isKnown }: Reviewed,
): RuleResult[] {
  if (rule.new_receivers !== true) return []
  const others = effects.receivers.filter((receiver) => !isKnown(receiver))
  if (others.length === 0) return []
  const shown = others.slice(0, MOST_NAMED).join(', ')
  return [waits(spender, NEW_RECEIVERS, `no approved transaction has paid ${shown} on ${network}`)]
}

/** A call that cannot be read could pay anyone and move anything. */
function evaluateUnread(spender: Spender, rule: ApprovalRule, { effects, network }: Reviewed): RuleResult[] {
  const assets = (rule.above ?? []).filter((one) => concerns(one, network)).map(({ asset }) => asset)
  const isAbout = rule.new_receivers === true || assets.length > 0
  const receivers = rule.new_receivers === true
  const unread =
    isAbout && findUnread(spender.rules, effects, { assets: receivers ? 'every' : assets, receivers })
  if (!unread) return []
  const detail = `${describeUnread(unread)}, so it needs an approval`
  return [waits(spender, 'require_approval', detail)]
}

function waits(spender: Spender, rule: string, detail: string): RuleResult {
  return resultOf(spender, { rule, allowed: true, requiresApproval: true, detail })
}
