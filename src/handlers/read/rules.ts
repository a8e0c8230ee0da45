import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { openReader } from '../../lib/fields/reader.ts'
import { readRules } from '../../spending/read-rules.ts'
import type { SpendingRules } from '../../spending/rules.ts'

/**
 * Reads the rules that a caller gives to an API key.
 * @throws AppError 400 with every problem
 */
export function readKeyRules(given: Schemas['SpendingRules']): SpendingRules {
  const problems: string[] = []
  const reader = openReader(given, 'body.rules', problems)
  const rules = reader && readRules(reader)
  if (rules === undefined || problems.length > 0)
    throw new AppError('invalid_request', `${problems.join('; ')}.`)
  return rules
}
