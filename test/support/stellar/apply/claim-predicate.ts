import { xdr } from '@stellar/stellar-sdk'
import { smaller } from '../bigints.ts'
import { INT64_MAX } from '../entries.ts'

const MAX_DEPTH = 4

/** Returns true when a condition is valid (CreateClaimableBalanceOpFrame.cpp `validatePredicate`). */
export function isWellFormed(predicate: xdr.ClaimPredicate, depth = 1): boolean {
  if (depth > MAX_DEPTH) return false
  const isGood = (inner: xdr.ClaimPredicate) => isWellFormed(inner, depth + 1)
  switch (predicate.type) {
    case 'claimPredicateUnconditional':
      return true
    case 'claimPredicateAnd':
      return predicate.andPredicates.length === 2 && predicate.andPredicates.every(isGood)
    case 'claimPredicateOr':
      return predicate.orPredicates.length === 2 && predicate.orPredicates.every(isGood)
    case 'claimPredicateNot':
      return predicate.notPredicate !== null && isGood(predicate.notPredicate)
    case 'claimPredicateBeforeAbsoluteTime':
      return predicate.absBefore >= 0n
    case 'claimPredicateBeforeRelativeTime':
      return predicate.relBefore >= 0n
  }
}

/** The same condition with times that no longer depend on when it was made (`updatePredicatesForApply`). */
export function anchored(predicate: xdr.ClaimPredicate, closeTime: bigint): xdr.ClaimPredicate {
  const anchor = (inner: xdr.ClaimPredicate) => anchored(inner, closeTime)
  switch (predicate.type) {
    case 'claimPredicateAnd':
      return xdr.ClaimPredicate.claimPredicateAnd(predicate.andPredicates.map(anchor))
    case 'claimPredicateOr':
      return xdr.ClaimPredicate.claimPredicateOr(predicate.orPredicates.map(anchor))
    case 'claimPredicateNot':
      return xdr.ClaimPredicate.claimPredicateNot(predicate.notPredicate && anchor(predicate.notPredicate))
    case 'claimPredicateBeforeRelativeTime': {
      const end = closeTime + predicate.relBefore
      return xdr.ClaimPredicate.claimPredicateBeforeAbsoluteTime(smaller(end, INT64_MAX))
    }
    default:
      return predicate
  }
}

/** Returns true when a condition holds at this close time (ClaimClaimableBalanceOpFrame.cpp `validatePredicate`). */
export function holds(predicate: xdr.ClaimPredicate, closeTime: bigint): boolean {
  const isTrue = (inner: xdr.ClaimPredicate) => holds(inner, closeTime)
  switch (predicate.type) {
    case 'claimPredicateUnconditional':
      return true
    case 'claimPredicateAnd':
      return predicate.andPredicates.every(isTrue)
    case 'claimPredicateOr':
      return predicate.orPredicates.some(isTrue)
    case 'claimPredicateNot':
      return predicate.notPredicate !== null && !isTrue(predicate.notPredicate)
    case 'claimPredicateBeforeAbsoluteTime':
      return predicate.absBefore > closeTime
    case 'claimPredicateBeforeRelativeTime':
      throw new Error('A relative time is made absolute before it is stored.')
  }
}
