import type { ClaimPredicate, CreateClaimableBalanceOperation } from '../model/operation.ts'
import { accountId, asset, firstOf, notNegative, type Problem, positive } from './fields.ts'

/** `Claimant claimants<10>` of XDR. */
const MAX_CLAIMANTS = 10

/** Checks a `create_claimable_balance` (stellar-core `CreateClaimableBalanceOpFrame::doCheckValid`). */
export function checkClaimable(
  { asset: kind, amount, claimants }: CreateClaimableBalanceOperation,
  at: string,
): Problem {
  if (claimants.length < 1 || claimants.length > MAX_CLAIMANTS) {
    return `${at}.claimants: 1 to ${MAX_CLAIMANTS} claimants are expected.`
  }
  const twice = claimants.findIndex(({ destination }, index) =>
    claimants.slice(0, index).some((earlier) => earlier.destination === destination),
  )
  if (twice >= 0) return `${at}.claimants[${twice}].destination: each claimant is expected once.`
  return (
    asset(kind, `${at}.asset`) ??
    positive(amount, `${at}.amount`) ??
    firstOf(
      claimants,
      `${at}.claimants`,
      ({ destination, predicate }, path) =>
        accountId(destination, `${path}.destination`) ??
        (predicate === undefined ? undefined : checkPredicate(predicate, `${path}.predicate`, 1)),
    )
  )
}

/** stellar-core `validatePredicate` allows 4 levels. */
const MAX_PREDICATE_DEPTH = 4

function checkPredicate(predicate: ClaimPredicate, at: string, depth: number): Problem {
  if (depth > MAX_PREDICATE_DEPTH) return `${at}: predicates may be nested ${MAX_PREDICATE_DEPTH} deep.`
  const { before_absolute_time: absolute, before_relative_time: relative, not, and, or } = predicate
  if (absolute !== undefined) return notNegative(absolute, `${at}.before_absolute_time`)
  if (relative !== undefined) return notNegative(relative, `${at}.before_relative_time`)
  if (not !== undefined) return checkPredicate(not, `${at}.not`, depth + 1)
  const [operator, both] = and === undefined ? ['or', or] : ['and', and]
  if (both === undefined) return undefined
  if (both.length !== 2) return `${at}.${operator}: exactly two predicates are expected.`
  return firstOf(both, `${at}.${operator}`, (inner, path) => checkPredicate(inner, path, depth + 1))
}
