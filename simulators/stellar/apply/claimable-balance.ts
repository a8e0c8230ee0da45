import { createHash } from 'node:crypto'
import { Keypair, xdr } from '@stellar/stellar-sdk'
import { addressOf, assetName, isValidAsset, smaller } from '../state/assets.ts'
import { availableBalance, claimableBalanceKey, INT64_MAX } from '../state/entries.ts'
import { accountIn, knownAccount } from '../state/state.ts'
import { type BalanceProblem, credit, debit } from './balances.ts'
import type { OperationContext, Rule } from './rule.ts'

const MAX_DEPTH = 4

/** Returns true if a condition is valid (CreateClaimableBalanceOpFrame.cpp `validatePredicate`). */
function isWellFormed(predicate: xdr.ClaimPredicate, depth = 1): boolean {
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
function anchored(predicate: xdr.ClaimPredicate, closeTime: bigint): xdr.ClaimPredicate {
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

/** Returns true if a condition holds at this close time (ClaimClaimableBalanceOpFrame.cpp `validatePredicate`). */
function holds(predicate: xdr.ClaimPredicate, closeTime: bigint): boolean {
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

/** stellar-core CreateClaimableBalanceOpFrame.cpp. */
export const createClaimableBalance: Rule<'createClaimableBalance'> = {
  level: () => 'medium',
  check({ createClaimableBalanceOp: { asset, amount, claimants } }) {
    const addresses = new Set(claimants.map((claimant) => addressOf(claimant.v0.destination)))
    const good =
      isValidAsset(asset) &&
      amount > 0n &&
      claimants.length > 0 &&
      addresses.size === claimants.length &&
      claimants.every((claimant) => isWellFormed(claimant.v0.predicate))
    return good ? undefined : created('createClaimableBalanceMalformed')
  },
  apply({ createClaimableBalanceOp: { asset, amount, claimants } }, context) {
    const { changes, network, source, closeTime } = context
    const problem = debit(changes, network, source, assetName(asset), amount)
    if (problem) return created(CREATION_PROBLEMS[problem])
    const account = knownAccount(changes, source)
    const paying = { ...account, sponsoring: account.sponsoring + claimants.length }
    if (availableBalance(paying, network.baseReserve) < 0n) return created('createClaimableBalanceLowReserve')
    changes.set(paying)
    const id = balanceId(context)
    changes.set({
      kind: 'claimableBalance',
      id: id.toXdr('hex'),
      asset: assetName(asset),
      amount,
      sponsor: source,
      claimants: claimants.map(({ v0: { destination, predicate } }) =>
        xdr.Claimant.claimantTypeV0(
          new xdr.ClaimantV0({ destination, predicate: anchored(predicate, closeTime) }),
        ),
      ),
    })
    const success = xdr.CreateClaimableBalanceResult.createClaimableBalanceSuccess(id)
    return xdr.OperationResult.opInner(xdr.OperationResultTr.createClaimableBalance(success))
  },
}

/** stellar-core ClaimClaimableBalanceOpFrame.cpp. */
export const claimClaimableBalance: Rule<'claimClaimableBalance'> = {
  level: () => 'low',
  check: () => undefined,
  apply({ claimClaimableBalanceOp }, { changes, source, closeTime }) {
    const key = claimableBalanceKey(claimClaimableBalanceOp.balanceId.toXdr('hex'))
    const balance = changes.get(key)
    if (balance?.kind !== 'claimableBalance') return claimed('claimClaimableBalanceDoesNotExist')
    const claimant = balance.claimants.find(({ v0 }) => addressOf(v0.destination) === source)
    if (!claimant || !holds(claimant.v0.predicate, closeTime))
      return claimed('claimClaimableBalanceCannotClaim')
    const problem = credit(changes, source, balance.asset, balance.amount)
    if (problem) return claimed(CLAIM_PROBLEMS[problem])
    const sponsor = accountIn(changes, balance.sponsor)
    if (sponsor) changes.set({ ...sponsor, sponsoring: sponsor.sponsoring - balance.claimants.length })
    changes.remove(key)
    return claimed('claimClaimableBalanceSuccess')
  },
}

const CREATION_PROBLEMS: Readonly<Record<BalanceProblem, CreationFailure>> = {
  noTrust: 'createClaimableBalanceNoTrust',
  notAuthorized: 'createClaimableBalanceNotAuthorized',
  underfunded: 'createClaimableBalanceUnderfunded',
  lineFull: 'createClaimableBalanceUnderfunded',
}

const CLAIM_PROBLEMS: Readonly<Record<BalanceProblem, xdr.ClaimClaimableBalanceResultVariantName>> = {
  noTrust: 'claimClaimableBalanceNoTrust',
  notAuthorized: 'claimClaimableBalanceNotAuthorized',
  underfunded: 'claimClaimableBalanceLineFull',
  lineFull: 'claimClaimableBalanceLineFull',
}

type CreationFailure = Exclude<xdr.CreateClaimableBalanceResultVariantName, 'createClaimableBalanceSuccess'>

/** By the transaction's source and sequence and the operation's place in it, so that everyone can tell it before (`getBalanceID`). */
function balanceId({ transaction, index }: OperationContext): xdr.ClaimableBalanceId {
  const preimage = xdr.HashIdPreimage.envelopeTypeOpId(
    new xdr.HashIdPreimageOperationId({
      sourceAccount: Keypair.fromPublicKey(transaction.source).xdrAccountId(),
      seqNum: transaction.sequence,
      opNum: index,
    }),
  )
  const hash = createHash('sha256').update(preimage.toXdr()).digest()
  return xdr.ClaimableBalanceId.claimableBalanceIdTypeV0(hash)
}

function created(code: CreationFailure): xdr.OperationResult {
  const result = xdr.CreateClaimableBalanceResult[code]()
  return xdr.OperationResult.opInner(xdr.OperationResultTr.createClaimableBalance(result))
}

function claimed(code: xdr.ClaimClaimableBalanceResultVariantName): xdr.OperationResult {
  const result = xdr.ClaimClaimableBalanceResult[code]()
  return xdr.OperationResult.opInner(xdr.OperationResultTr.claimClaimableBalance(result))
}
