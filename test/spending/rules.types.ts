/** `tsc` compiles this file and nothing runs it: it proves that a rule has a row, and that something evaluates the row. */
import type { Schemas } from '../../src/contract/operations.ts'
import type { Rule } from '../../src/spending/rule.ts'
import type { RuleTable } from '../../src/spending/rule-table.ts'
import type { SpendingRules } from '../../src/spending/rules.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

const read = () => undefined

export const evaluated: Rule<string> = { read, signature: () => [] }
// @ts-expect-error Nothing evaluates it.
export const unevaluated: Rule<string> = { read }
// @ts-expect-error Nothing reads it.
export const unread: Rule<string> = { signature: () => [] }

/** The fields of the rules, their rows and the contract are the same: one that only one of them has does not compile. */
export const rows: Equal<keyof RuleTable, keyof SpendingRules> = true
export const contract: Equal<keyof RuleTable, keyof Schemas['SpendingRules']> = true

declare const others: Omit<RuleTable, 'hours'>
// @ts-expect-error The rule `hours` has no row.
export const incomplete: RuleTable = others
