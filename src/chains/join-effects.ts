import { type Effects, sumAmounts, type UnreadCall } from './effects.ts'

/** The effects of a part of a transaction; an absent field is empty. */
export type PartialEffects = Partial<Effects>

/** Joins the effects of the parts of a transaction: each name once, and the amounts of an asset in one sum. */
export function joinEffects(parts: readonly PartialEffects[]): Effects {
  return {
    receivers: once(parts.flatMap(({ receivers = [] }) => receivers)),
    contracts: once(parts.flatMap(({ contracts = [] }) => contracts)),
    selectors: once(parts.flatMap(({ selectors = [] }) => selectors)),
    operations: once(parts.flatMap(({ operations = [] }) => operations)),
    amounts: sumAmounts(parts.flatMap(({ amounts = [] }) => amounts)),
    allowances: sumAmounts(parts.flatMap(({ allowances = [] }) => allowances)),
    unread: eachOnce(parts.flatMap(({ unread = [] }) => unread)),
  }
}

function once(names: readonly string[]): string[] {
  return [...new Set(names)]
}

function eachOnce(calls: readonly UnreadCall[]): UnreadCall[] {
  return [...new Map(calls.map((call) => [`${call.target} ${call.asset ?? ''}`, call])).values()]
}
