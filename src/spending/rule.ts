import type { Effects } from '../chains/effects.ts'
import type { Reader } from '../lib/fields.ts'
import type { Charge, Counter, Spent, SpentIn } from './budget.ts'
import type { Spender } from './rules.ts'

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
}

/** Content, as the rule for approvals sees it. */
export interface Reviewed {
  readonly effects: Effects
  /** By type and name. */
  readonly network: string
  /** Returns true if an approved transaction of the spender has paid the receiver on this network. */
  readonly isKnown: (receiver: string) => boolean
}

/** A charge, on top of what was counted before. */
export interface Charged {
  readonly charge: Charge
  /** Without what the transaction of the charge took before. */
  readonly spentIn: SpentIn
  /** The most that the transaction can take of its earlier content, which can still be included. */
  readonly mostOf: (counter: Counter) => Spent
}

/** What rules are evaluated about. */
export interface Evaluated {
  /** A request, as far as it needs no earlier transaction. */
  readonly content: Subject
  /** The user for whom a request is, if the caller named one. */
  readonly user: { readonly userId?: string | undefined }
  /** Content that may have to wait for another API key. */
  readonly approval: Reviewed
  readonly charge: Charged
  /** A message or typed data, whose effects cannot be read. */
  readonly signature: object
}

/** The result of a rule before its owner is named. `rule`: its path, if that is not its name alone. */
export type Finding = Omit<RuleResult, 'subject' | 'rule'> & { readonly rule?: string }

/** The evaluations of a rule of this type. */
export type Evaluations<T> = {
  readonly [K in keyof Evaluated]?: (value: T, about: Evaluated[K], spender: Spender) => readonly Finding[]
}

type AtLeastOne<T> = { [K in keyof T]-?: T & { readonly [Name in K]-?: T[K] } }[keyof T]

/** A rule: how it is read, and how it is evaluated. One that nothing evaluates does not compile. */
export type Rule<T> = AtLeastOne<Evaluations<T>> & {
  /** Reads the rule from a configuration file or a request; undefined if it is absent. */
  readonly read: (reader: Reader, field: string) => T | undefined
  /** Its value if it is absent; without it, an absent rule has no result. */
  readonly default?: T
}
