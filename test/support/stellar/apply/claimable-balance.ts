import { createHash } from 'node:crypto'
import { Keypair, xdr } from '@stellar/stellar-sdk'
import { addressOf, assetName, isValidAsset } from '../assets.ts'
import { availableBalance, claimableBalanceKey } from '../entries.ts'
import { accountIn, knownAccount } from '../state.ts'
import { type BalanceProblem, credit, debit } from './balances.ts'
import { anchored, holds, isWellFormed } from './claim-predicate.ts'
import type { OperationContext, Rule } from './rule.ts'

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

/** By the transaction's source and sequence and the operation's place in it, so that everybody can tell it before (`getBalanceID`). */
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
