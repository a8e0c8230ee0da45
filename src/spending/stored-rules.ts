import { openReader } from '../lib/fields/reader.ts'
import { readRules } from './read-rules.ts'
import type { SpendingRules } from './rules.ts'

/** Encodes rules as JSON text for the database. Amounts are decimal strings, because JSON numbers lose digits. */
export function encodeRules(rules: SpendingRules): string {
  return JSON.stringify(rules, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/**
 * Decodes the parsed JSON of the database.
 * @throws Error for rules that this release does not know: a rule that is ignored would permit what it forbids
 */
export function decodeRules(stored: unknown): SpendingRules {
  const problems: string[] = []
  const reader = openReader(stored, 'rules', problems)
  const rules = reader && readRules(reader)
  if (rules === undefined || problems.length > 0) throw new Error(`stored rules: ${problems.join('; ')}`)
  return rules
}
