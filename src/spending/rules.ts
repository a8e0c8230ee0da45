import { omitUndefined } from '../lib/object.ts'

/** The length of a rolling period, or a single transaction. */
type LimitPeriod = 'transaction' | Period

/** Every rolling period; the database accepts no other. */
export const PERIODS = ['hour', 'day', 'month'] as const

/** A rolling period: 60 minutes, 24 hours, 30 days. */
export type Period = (typeof PERIODS)[number]

/** The most that may be spent on one network. An absent amount has no limit. */
export interface SpendingLimit {
  readonly per: LimitPeriod
  /** As `AssetAmount.asset`. */
  readonly asset: string
  /** The network that it applies to, by type and name. If absent, each network separately. */
  readonly network?: string
  /** The most of the asset, in its smallest unit. */
  readonly value?: bigint
  /** The maximum cost of transactions besides their value, in the smallest unit of the native currency. */
  readonly fees?: bigint
  /** The most transactions. */
  readonly count?: number
}

/** Every day of the week, as JavaScript numbers them. */
export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const

/** A day of the week. */
export type Weekday = (typeof WEEKDAYS)[number]

/** The time of the day when sending is allowed, in UTC. */
export interface SpendingHours {
  /** `HH:MM`. */
  readonly from: string
  /** `HH:MM`, which is too late. An end before the start is on the next day. */
  readonly to: string
  /** The days on which the time starts. If absent, every day. */
  readonly days?: readonly Weekday[]
}

/** An amount of one asset, above which a transaction waits for an approval. */
export interface ApprovalThreshold {
  /** As `AssetAmount.asset`. */
  readonly asset: string
  /** The network that it applies to, by type and name. If absent, every network. */
  readonly network?: string
  /** The most that needs no approval, in the smallest unit. */
  readonly value: bigint
}

/**
 * The transactions that wait until another API key decides. Without `above` and `new_receivers`, every one
 * does.
 */
export interface ApprovalRule {
  readonly above?: readonly ApprovalThreshold[]
  /** With `true`, those with a receiver that no approved transaction of the spender has paid before. */
  readonly new_receivers?: boolean
  /** The longest time that they wait, in seconds. A day by default. */
  readonly expires_after_seconds?: number
}

/**
 * The rules for what an API key or a relayer may spend. An absent rule forbids nothing. The names are those
 * of the contract, because rules are stored, shown and compared as they are.
 */
export interface SpendingRules {
  /**
   * The only accounts that may receive; an empty list allows none. EVM addresses are in lower case, here and
   * below.
   */
  readonly receivers?: readonly string[]
  /** The only contracts and programs that may be called. */
  readonly contracts?: readonly string[]
  /** EVM: the only functions that may be called, by their first four bytes. */
  readonly selectors?: readonly string[]
  /** Stellar: the only types of operations. */
  readonly operations?: readonly string[]
  /** The only assets that may be moved. */
  readonly assets?: readonly string[]
  readonly limits?: readonly SpendingLimit[]
  /** Of an API key: the limits of each of its users, whom the header `User-Id` names. */
  readonly user_limits?: readonly SpendingLimit[]
  readonly require_approval?: ApprovalRule
  readonly hours?: SpendingHours
  /** `required`: nothing is sent without an `Idempotency-Key`. Default `optional`. */
  readonly idempotency?: 'required' | 'optional'
  /** `any` allows signing messages and typed data, whose effects cannot be read. Default `readable`. */
  readonly signatures?: 'readable' | 'any'
}

/** The bearer of rules: an API key, a user of one, or a relayer. */
export interface Spender {
  /** `key:<id>`, `key:<id>/<user>` or `relayer:<id>`. */
  readonly subject: string
  readonly rules: SpendingRules
}

/** Returns the name of a spender for messages. */
export function nameOf({ subject }: Pick<Spender, 'subject'>): string {
  const [kind, id] = [subject.slice(0, subject.indexOf(':')), subject.slice(subject.indexOf(':') + 1)]
  if (kind === 'relayer' || kind === 'plugin') return `${kind} ${id}`
  return isUser({ subject })
    ? `user ${id.slice(id.indexOf('/') + 1)} of API key ${id.slice(0, id.indexOf('/'))}`
    : `API key ${id}`
}

/** Returns true if a spender is a user of an API key. The ids of keys have no slash. */
export function isUser({ subject }: Pick<Spender, 'subject'>): boolean {
  return subject.startsWith('key:') && subject.includes('/')
}

/**
 * Returns a user of an API key as a spender with limits of its own. Calls that the rules of the key trust are
 * trusted here as well; its other rules are evaluated once, for the key. Undefined if the key has no limits
 * for users.
 */
export function userSpender(
  keyId: string,
  user: string,
  { user_limits: limits, contracts, operations, signatures }: SpendingRules,
): Spender | undefined {
  if (limits === undefined) return undefined
  const trusted = omitUndefined({ contracts, operations, signatures })
  return { subject: `${subjectOfKey(keyId)}/${user}`, rules: { limits, ...trusted } }
}

/**
 * Lists the networks that limits and thresholds of the rules name. A rule for a network that does not exist
 * limits nothing.
 */
export function networksIn({
  limits = [],
  user_limits = [],
  require_approval: approval,
}: SpendingRules): string[] {
  const named = [...limits, ...user_limits, ...(approval?.above ?? [])].flatMap(
    ({ network }) => network ?? [],
  )
  return [...new Set(named)]
}

/** Returns true if a limit or threshold is about a network. */
export function concerns(limit: { readonly network?: string | undefined }, network: string): boolean {
  return limit.network === undefined || limit.network === network
}

/** Gives the name under which the spending of a relayer is counted. */
export function subjectOfRelayer(id: string): string {
  return `relayer:${id}`
}

/** Gives the name under which the spending of an API key is counted. */
export function subjectOfKey(id: string): string {
  return `key:${id}`
}
