import { ClaimPredicate } from '@stellar/stellar-sdk/xdr'
import type { ClaimPredicate as Predicate } from '../model/operation.ts'

/** When a balance may be claimed, as XDR; at any time when absent. */
export function encodePredicate(predicate: Predicate | undefined): ClaimPredicate {
  const { before_absolute_time: absolute, before_relative_time: relative, not, and, or } = predicate ?? {}
  if (absolute !== undefined) return ClaimPredicate.claimPredicateBeforeAbsoluteTime(absolute)
  if (relative !== undefined) return ClaimPredicate.claimPredicateBeforeRelativeTime(relative)
  if (not !== undefined) return ClaimPredicate.claimPredicateNot(encodePredicate(not))
  if (and !== undefined) return ClaimPredicate.claimPredicateAnd(and.map(encodePredicate))
  if (or !== undefined) return ClaimPredicate.claimPredicateOr(or.map(encodePredicate))
  return ClaimPredicate.claimPredicateUnconditional()
}
