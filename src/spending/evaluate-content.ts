import type { Effects, UnreadCall } from '../chains/effects.ts'
import { nameOf, type Spender, type SpendingHours, type SpendingRules, WEEKDAYS } from './rules.ts'

/** The answer of one rule to one request. */
export interface RuleResult {
  /** `key:<id>`, `key:<id>/<user>` or `relayer:<id>`. */
  readonly subject: string
  /** The rule by its path, e.g. `limits[0].value`. */
  readonly rule: string
  readonly allowed: boolean
  /** True when it is allowed only with an approval. */
  readonly requiresApproval?: boolean
  /** A sentence for a person, with the rule and what it allows. */
  readonly detail: string
}

/** A request, as the rules see it. */
export interface Subject {
  readonly effects: Effects
  /** By type and name. */
  readonly network: string
  readonly now: Date
  readonly hasIdempotencyKey: boolean
  /** The user for whom the request is, if the caller named one. */
  readonly userId?: string | undefined
}

/** A sentence about a long list names this many. */
const MOST_NAMED = 3

/** Evaluates every rule that needs no earlier transaction. Pure. */
export function evaluateContent(spender: Spender, subject: Subject): RuleResult[] {
  const { rules } = spender
  const { effects } = subject
  const lists = [
    { rule: 'receivers', allowed: rules.receivers, used: effects.receivers },
    { rule: 'contracts', allowed: rules.contracts, used: effects.contracts },
    { rule: 'selectors', allowed: rules.selectors, used: effects.selectors },
    { rule: 'operations', allowed: rules.operations, used: effects.operations },
    { rule: 'assets', allowed: rules.assets, used: effects.amounts.map(({ asset }) => asset) },
  ]
  return [
    ...lists.flatMap((list) => evaluateList(spender, list)),
    ...evaluateUnread(spender, subject),
    ...evaluateHours(spender, subject.now),
    ...evaluateIdempotencyKey(spender, subject),
    ...evaluateUser(spender, subject),
  ]
}

interface List {
  readonly rule: string
  readonly allowed: readonly string[] | undefined
  readonly used: readonly string[]
}

function evaluateList(spender: Spender, { rule, allowed, used }: List): RuleResult[] {
  if (allowed === undefined) return []
  const known = new Set(allowed)
  const others = used.filter((item) => !known.has(item))
  const shown = others.slice(0, MOST_NAMED).join(', ')
  return [
    resultOf(spender, {
      rule,
      allowed: others.length === 0,
      detail: others.length === 0 ? `all of them are among the ${rule}` : `${shown} is not among the ${rule}`,
    }),
  ]
}

/**
 * A call with unreadable effects could move what the rules limit, or pay receivers that they do not allow, so it is refused, unless its
 * contract or operation is listed.
 */
function evaluateUnread(spender: Spender, { effects, network }: Subject): RuleResult[] {
  const { rules } = spender
  const limited = (rules.limits ?? []).filter(
    (limit) => limit.value !== undefined && concerns(limit, network),
  )
  const isListed = rules.assets !== undefined || rules.receivers !== undefined
  if (!isListed && limited.length === 0) return []
  const refused = findUnread(rules, effects, {
    assets: isListed ? 'every' : limited.map(({ asset }) => asset),
    receivers: rules.receivers !== undefined,
  })
  if (refused === undefined) return []
  const rule = rules.assets && !refused.isCounted ? 'assets' : rules.receivers ? 'receivers' : 'limits'
  return [resultOf(spender, { rule, allowed: false, detail: describeUnread(refused) })]
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
 * Finds the first call that could move one of the assets, or pay a receiver, unseen, and that the lists of contracts and operations do not
 * name.
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

/** Returns true if a limit is about a network. */
export function concerns(limit: { readonly network?: string | undefined }, network: string): boolean {
  return limit.network === undefined || limit.network === network
}

function evaluateHours(spender: Spender, now: Date): RuleResult[] {
  const { hours } = spender.rules
  if (hours === undefined) return []
  const days = hours.days === undefined ? '' : ` on ${hours.days.join(', ')}`
  const detail = `sending is allowed from ${hours.from} to ${hours.to} UTC${days}, and it is ${now.toISOString()}`
  return [resultOf(spender, { rule: 'hours', allowed: isWithin(hours, now), detail })]
}

/** The minutes after midnight, UTC. */
function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
}

/** Returns true if the time is in the hours of its day, or in those of the day before that end after midnight. */
function isWithin({ from, to, days }: SpendingHours, now: Date): boolean {
  const [start, end] = [minutesOf(from), minutesOf(to)]
  const minute = now.getUTCHours() * 60 + now.getUTCMinutes()
  const startsOn = (day: number) => {
    const name = WEEKDAYS[(day + 7) % 7]
    return name !== undefined && (days === undefined || days.includes(name))
  }
  const today = now.getUTCDay()
  if (start < end) return startsOn(today) && minute >= start && minute < end
  return (startsOn(today) && minute >= start) || (startsOn(today - 1) && minute < end)
}

function evaluateIdempotencyKey(spender: Spender, { hasIdempotencyKey }: Subject): RuleResult[] {
  if (spender.rules.idempotency !== 'required') return []
  const detail = 'the header Idempotency-Key is required'
  return [resultOf(spender, { rule: 'idempotency', allowed: hasIdempotencyKey, detail })]
}

/** Without the name of a user, the limits of users would limit nothing. */
function evaluateUser({ subject, rules }: Spender, { userId }: Subject): RuleResult[] {
  if (rules.user_limits === undefined) return []
  const detail = 'the header User-Id is required, which names the user'
  return [resultOf({ subject, rules }, { rule: 'user_limits', allowed: userId !== undefined, detail })]
}

/** Evaluates the rule for signatures of messages and typed data, whose effects cannot be read. */
export function evaluateSignature(spender: Spender): RuleResult {
  const detail = 'the effects of messages and typed data cannot be read; "any" would allow signing them'
  return resultOf(spender, { rule: 'signatures', allowed: spender.rules.signatures === 'any', detail })
}

/** Makes a result whose sentence begins with the rule and its owner. */
export function resultOf(
  spender: Spender,
  { rule, detail, ...result }: Omit<RuleResult, 'subject'>,
): RuleResult {
  return {
    ...result,
    subject: spender.subject,
    rule,
    detail: `Rule ${rule} of ${nameOf(spender)}: ${detail}.`,
  }
}
