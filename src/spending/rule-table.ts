import { type FieldType, oneOf, openReader, type Reader, text } from '../lib/fields.ts'
import { APPROVAL } from './approval-rule.ts'
import { HOURS } from './hours.ts'
import { LIMITS, readLimits } from './limits.ts'
import type { Evaluated, Evaluations, Rule, RuleResult, Subject } from './rule.ts'
import { name, selector } from './rule-fields.ts'
import { nameOf, type Spender, type SpendingRules } from './rules.ts'

/** Every rule, each with its row: a missing or an extra one does not compile. */
export type RuleTable = {
  readonly [Name in keyof SpendingRules]-?: Rule<Exclude<SpendingRules[Name], undefined>>
}

/** The rules, in the order in which they are read and evaluated. */
const RULES: RuleTable = {
  receivers: allowedList('receivers', name, ({ effects }) => effects.receivers),
  contracts: allowedList('contracts', name, ({ effects }) => effects.contracts),
  selectors: allowedList('selectors', selector, ({ effects }) => effects.selectors),
  operations: allowedList('operations', text, ({ effects }) => effects.operations),
  assets: allowedList('assets', name, ({ effects }) => effects.amounts.map(({ asset }) => asset)),
  limits: LIMITS,
  // As `limits`, they are those of each user: see `userSpender`.
  user_limits: {
    read: readLimits,
    // Without the name of a user, the limits of users would limit nothing.
    user: (_limits, { userId }) => [
      { allowed: userId !== undefined, detail: 'the header User-Id is required, which names the user' },
    ],
  },
  require_approval: APPROVAL,
  hours: HOURS,
  idempotency: {
    read: (reader, field) => reader.find(field, oneOf('required', 'optional')),
    content: (value, { hasIdempotencyKey }) =>
      value === 'required'
        ? [{ allowed: hasIdempotencyKey, detail: 'the header Idempotency-Key is required' }]
        : [],
  },
  signatures: {
    read: (reader, field) => reader.find(field, oneOf('readable', 'any')),
    default: 'readable',
    signature: (value) => [
      {
        allowed: value === 'any',
        detail: 'the effects of messages and typed data cannot be read; "any" would allow signing them',
      },
    ],
  },
}

const MAX_ITEMS = 1_000

/** A sentence about a long list names this many. */
const MOST_NAMED = 3

/** The row of a list that has everything that content may use. */
function allowedList(
  rule: string,
  type: FieldType<string>,
  usedBy: (subject: Subject) => readonly string[],
): Rule<readonly string[]> {
  return {
    read: (reader, field) => {
      if (reader.raw(field) === undefined) return undefined
      const list = reader.list(field, type)
      if (list.length > MAX_ITEMS) reader.problem(`has more than ${MAX_ITEMS} items`, field)
      return [...new Set(list)]
    },
    content: (allowed, subject) => {
      const known = new Set(allowed)
      const others = usedBy(subject).filter((item) => !known.has(item))
      const shown = others.slice(0, MOST_NAMED).join(', ')
      return others.length === 0
        ? [{ allowed: true, detail: `all of them are among the ${rule}` }]
        : [{ allowed: false, detail: `${shown} is not among the ${rule}` }]
    },
  }
}

type AnyRule = Pick<Rule<unknown>, 'read' | 'default'> & Evaluations<unknown>

// The table gives each row its name and its type, which `entries` cannot express.
const ROWS = Object.entries(RULES) as [keyof SpendingRules, AnyRule][]

/** Evaluates the rules of a spender that are about this. Pure. */
export function evaluateRules<K extends keyof Evaluated>(
  kind: K,
  { subject, rules }: Spender,
  about: Evaluated[K],
): RuleResult[] {
  return ROWS.flatMap(([rule, row]) => {
    const value = rules[rule] ?? row.default
    const evaluations: Evaluations<unknown> = row
    const findings = value === undefined ? [] : evaluations[kind]?.(value, about, { subject, rules })
    return (findings ?? []).map((finding) => {
      const path = finding.rule ?? rule
      const detail = `Rule ${path} of ${nameOf({ subject })}: ${finding.detail}.`
      return { ...finding, subject, rule: path, detail }
    })
  })
}

/** Reads rules from a configuration file or a request. The reader collects the problems. */
export function readRules(reader: Reader): SpendingRules {
  const rules = ROWS.map(([name, { read }]) => [name, read(reader, name)] as const)
  reader.finish()
  return Object.fromEntries(rules.filter(([, value]) => value !== undefined)) as SpendingRules
}

/** Encodes rules as JSON text for the database. Amounts are strings, because JSON numbers lose digits. */
export function encodeRules(rules: SpendingRules): string {
  return JSON.stringify(rules, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/**
 * Decodes the parsed JSON of the database.
 * @throws Error for rules that this release does not know: a rule that is ignored would permit what it
 * forbids
 */
export function decodeRules(stored: unknown): SpendingRules {
  const problems: string[] = []
  const reader = openReader(stored, 'rules', problems)
  const rules = reader && readRules(reader)
  if (rules === undefined || problems.length > 0) throw new Error(`stored rules: ${problems.join('; ')}`)
  return rules
}
