import { flag, type Reader, u128, whole } from '../lib/fields.ts'
import { omitUndefined } from '../lib/object.ts'
import { describeUnread, findUnread, MAX_LIMITS } from './limits.ts'
import type { Finding, Reviewed, Rule } from './rule.ts'
import { asset, network } from './rule-fields.ts'
import {
  type ApprovalRule,
  type ApprovalThreshold,
  concerns,
  type Spender,
  type SpendingRules,
} from './rules.ts'

/** The rule for what waits until another API key decides. */
export const APPROVAL: Rule<ApprovalRule> = { read: readApproval, approval: evaluateApproval }

/** The contract has the same bounds. */
const EXPIRY_SECONDS = { min: 60, max: 2_592_000 }

function readApproval(reader: Reader, field: string): ApprovalRule | undefined {
  const approval = reader.object(field)
  if (approval === undefined) return undefined
  const { min, max } = EXPIRY_SECONDS
  const read = omitUndefined({
    above: readThresholds(approval),
    new_receivers: approval.find('new_receivers', flag),
    expires_after_seconds: approval.find('expires_after_seconds', whole(min, max)),
  })
  approval.finish()
  return read
}

function readThresholds(approval: Reader): ApprovalThreshold[] | undefined {
  const items = approval.objects('above')
  if (items === undefined) return undefined
  if (items.length === 0) approval.problem('needs an amount, or must be omitted', 'above')
  if (items.length > MAX_LIMITS) approval.problem(`has more than ${MAX_LIMITS} items`, 'above')
  return items.map((item) => {
    const threshold = omitUndefined({
      asset: item.find('asset', asset) ?? 'native',
      network: item.find('network', network),
      value: item.get('value', u128),
    })
    item.finish()
    return threshold
  })
}

/** A sentence about many receivers names this many. */
const MOST_NAMED = 3

/** The rule for new receivers, by its path. */
export const NEW_RECEIVERS = 'require_approval.new_receivers'

/** Returns one result for each reason for which content waits; none if it does not. */
function evaluateApproval(rule: ApprovalRule, reviewed: Reviewed, { rules }: Spender): Finding[] {
  if (rule.above === undefined && rule.new_receivers !== true)
    return [waits('every transaction needs an approval')]
  return [
    ...evaluateAmounts(rule, reviewed),
    ...evaluateReceivers(rule, reviewed),
    ...evaluateUnread(rule, reviewed, rules),
  ]
}

function evaluateAmounts({ above = [] }: ApprovalRule, { effects, network }: Reviewed): Finding[] {
  return above.flatMap((threshold, index) => {
    const { asset, value } = threshold
    const moved = effects.amounts.find((amount) => amount.asset === asset)?.value ?? 0n
    if (moved <= value || !concerns(threshold, network)) return []
    const detail = `a value above ${value} ${asset} on ${network} needs an approval, and this transaction moves ${moved}`
    return [waits(detail, `require_approval.above[${index}]`)]
  })
}

function evaluateReceivers(rule: ApprovalRule, { effects, network, isKnown }: Reviewed): Finding[] {
  if (rule.new_receivers !== true) return []
  const others = effects.receivers.filter((receiver) => !isKnown(receiver))
  if (others.length === 0) return []
  const shown = others.slice(0, MOST_NAMED).join(', ')
  return [waits(`no approved transaction has paid ${shown} on ${network}`, NEW_RECEIVERS)]
}

/** A call that cannot be read could pay anyone and move anything. */
function evaluateUnread(rule: ApprovalRule, { effects, network }: Reviewed, rules: SpendingRules): Finding[] {
  const assets = (rule.above ?? []).filter((one) => concerns(one, network)).map(({ asset }) => asset)
  const isAbout = rule.new_receivers === true || assets.length > 0
  const receivers = rule.new_receivers === true
  const unread = isAbout && findUnread(rules, effects, { assets: receivers ? 'every' : assets, receivers })
  if (!unread) return []
  return [waits(`${describeUnread(unread)}, so it needs an approval`)]
}

function waits(detail: string, rule = 'require_approval'): Finding {
  return { rule, allowed: true, requiresApproval: true, detail }
}
