import { type Effects, NATIVE, type UnreadCall } from '../chains/effects.ts'
import { oneOf, type Reader, u128, whole } from '../lib/fields.ts'
import { omitUndefined } from '../lib/object.ts'
import { AMOUNTS, type Asked, maxSpent, spentOf, ZERO_SPENT } from './budget.ts'
import type { Charged, Finding, Rule, Subject } from './rule.ts'
import { asset, network } from './rule-fields.ts'
import { concerns, isUser, PERIODS, type Spender, type SpendingLimit, type SpendingRules } from './rules.ts'

/** The rule for what may be spent. Without limits, the other rules still refuse what they cannot see. */
export const LIMITS: Rule<readonly SpendingLimit[]> = {
  read: readLimits,
  default: [],
  content: evaluateUnread,
  charge: evaluateLimits,
}

/** The most limits of one spender: each costs time at every request. */
export const MAX_LIMITS = 20

/** The contract has the same bound. */
const MAX_COUNT = 1_000_000_000

/** Reads a list of limits. */
export function readLimits(reader: Reader, field: string): SpendingLimit[] | undefined {
  const items = reader.objects(field)
  if (items === undefined) return undefined
  if (items.length > MAX_LIMITS) reader.problem(`has more than ${MAX_LIMITS} items`, field)
  return items.map(readLimit)
}

function readLimit(reader: Reader): SpendingLimit {
  const limit = omitUndefined({
    per: reader.get('per', oneOf('transaction', ...PERIODS)),
    asset: reader.find('asset', asset) ?? 'native',
    network: reader.find('network', network),
    value: reader.find('value', u128),
    fees: reader.find('fees', u128),
    count: reader.find('count', whole(0, MAX_COUNT)),
  })
  reader.finish()
  if (limit.value === undefined && limit.fees === undefined && limit.count === undefined)
    reader.problem('limits nothing: it needs value, fees or count')
  if (limit.per === 'transaction' && limit.count !== undefined)
    reader.problem('has no meaning for a single transaction', 'count')
  if (limit.asset !== 'native' && (limit.fees !== undefined || limit.count !== undefined))
    reader.problem('only value can be limited for an asset that is not native')
  return limit
}

function evaluateLimits(
  limits: readonly SpendingLimit[],
  { charge, spentIn, mostOf }: Charged,
  spender: Spender,
): Finding[] {
  const spent = spentOf(charge)
  return limits.flatMap((limit, index) => {
    const { per, asset } = limit
    if (!concerns(limit, charge.network)) return []
    const counter = { subject: spender.subject, network: charge.network, asset }
    const content = spent.get(asset) ?? ZERO_SPENT
    const before = per === 'transaction' ? ZERO_SPENT : spentIn(counter, per)
    const wanted = per === 'transaction' ? content : maxSpent(content, mostOf(counter))
    return AMOUNTS.flatMap((name) => {
      const allowed = limit[name]
      if (allowed === undefined) return []
      const left = BigInt(allowed) - BigInt(before[name])
      const ofAsset = name === 'value' && asset !== NATIVE ? ` of ${asset}` : ''
      const what = name === 'count' ? 'transactions' : `${name}${ofAsset}`
      return {
        rule: `${limitsField(spender)}[${index}].${name}`,
        allowed: BigInt(wanted[name]) <= left,
        detail: `${what} up to ${allowed} per ${per} on ${charge.network}; ${left < 0n ? 0n : left} is left, and this transaction needs up to ${wanted[name]}`,
      }
    })
  })
}

/** Returns the field that has the limits of a spender. */
export function limitsField(spender: Pick<Spender, 'subject'>): 'limits' | 'user_limits' {
  return isUser(spender) ? 'user_limits' : 'limits'
}

/** Lists the sums that the rolling limits of spenders on a network need. */
export function askedBy(spenders: readonly Spender[], network: string): Asked[] {
  return spenders.flatMap(({ subject, rules }) =>
    (rules.limits ?? []).flatMap((limit) => {
      const { per, asset } = limit
      if (per === 'transaction' || !concerns(limit, network)) return []
      return { counter: { subject, network, asset }, period: per }
    }),
  )
}

/**
 * A call with unreadable effects could move what the rules limit, or pay receivers that they do not allow, so
 * it is refused, unless its contract or operation is listed.
 */
function evaluateUnread(
  limits: readonly SpendingLimit[],
  { effects, network }: Subject,
  { rules }: Spender,
): Finding[] {
  const limited = limits.filter((limit) => limit.value !== undefined && concerns(limit, network))
  const isListed = rules.assets !== undefined || rules.receivers !== undefined
  if (!isListed && limited.length === 0) return []
  const refused = findUnread(rules, effects, {
    assets: isListed ? 'every' : limited.map(({ asset }) => asset),
    receivers: rules.receivers !== undefined,
  })
  if (refused === undefined) return []
  const rule = rules.assets && !refused.isCounted ? 'assets' : rules.receivers ? 'receivers' : 'limits'
  return [{ rule, allowed: false, detail: describeUnread(refused) }]
}

/** Says what is not known of a call. */
export function describeUnread({ target, isCounted }: UnreadCall): string {
  const unknown = isCounted ? `the receiver of what ${target} takes` : `what ${target} moves`
  return `${unknown} cannot be read, and it is not among the contracts or operations of the rules`
}

/** The assets and receivers that rules limit. */
interface Concern {
  readonly assets: readonly string[] | 'every'
  /** True when the rules limit the receivers as well. */
  readonly receivers: boolean
}

/**
 * Finds the first call that could move one of the assets, or pay a receiver, unseen, and that the lists of
 * contracts and operations do not name.
 */
export function findUnread(
  rules: SpendingRules,
  { unread }: Pick<Effects, 'unread'>,
  { assets, receivers }: Concern,
): UnreadCall | undefined {
  const trusted = new Set([...(rules.contracts ?? []), ...(rules.operations ?? [])])
  const matters = ({ asset, isCounted }: UnreadCall) =>
    isCounted ? receivers : asset === undefined || assets === 'every' || assets.includes(asset)
  return unread.find((call) => !trusted.has(call.target) && matters(call))
}
