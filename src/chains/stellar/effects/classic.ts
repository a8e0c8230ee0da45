import type { Asset, ManageBuyOfferOp, OperationBody } from '@stellar/stellar-sdk/xdr'
import { NATIVE } from '../../effects.ts'
import type { PartialEffects } from '../../join-effects.ts'
import { accountIdOf, underlying } from '../model/strkey.ts'
import { assetName, operationName } from './names.ts'

/** Operations that neither take assets from the account nor give rights on it. Fees and reserves do not count. */
const WITHOUT_AMOUNTS: ReadonlySet<OperationBody['type']> = new Set([
  'changeTrust',
  'manageData',
  'claimClaimableBalance',
  'inflation',
  'extendFootprintTtl',
  'restoreFootprint',
  'beginSponsoringFutureReserves',
  'endSponsoringFutureReserves',
])

/** Returns the effects of an operation other than `invokeHostFunction` on its source. A type that is not known here counts as unread. */
export function classicEffects(body: OperationBody): PartialEffects {
  if (WITHOUT_AMOUNTS.has(body.type)) return {}
  return paymentEffects(body) ?? offerEffects(body) ?? unreadEffects(body)
}

function paymentEffects(body: OperationBody): PartialEffects | undefined {
  switch (body.type) {
    case 'createAccount': {
      const { destination, startingBalance } = body.createAccountOp
      const amounts = [{ asset: NATIVE, value: startingBalance }]
      return { receivers: [accountIdOf(destination.ed25519.toBytes())], amounts }
    }
    case 'payment': {
      const { destination, asset, amount } = body.paymentOp
      return { receivers: [underlying(destination)], ...taken(asset, amount) }
    }
    case 'pathPaymentStrictSend': {
      const { destination, sendAsset, sendAmount } = body.pathPaymentStrictSendOp
      return { receivers: [underlying(destination)], ...exchanged(body, sendAsset, sendAmount) }
    }
    case 'pathPaymentStrictReceive': {
      const { destination, sendAsset, sendMax } = body.pathPaymentStrictReceiveOp
      return { receivers: [underlying(destination)], ...exchanged(body, sendAsset, sendMax) }
    }
    case 'createClaimableBalance': {
      const { claimants, asset, amount } = body.createClaimableBalanceOp
      const receivers = claimants.map(({ v0 }) => accountIdOf(v0.destination.ed25519.toBytes()))
      return { receivers, ...taken(asset, amount) }
    }
    default:
      return undefined
  }
}

function offerEffects(body: OperationBody): PartialEffects | undefined {
  switch (body.type) {
    case 'manageSellOffer':
      return exchanged(body, body.manageSellOfferOp.selling, body.manageSellOfferOp.amount)
    case 'createPassiveSellOffer':
      return exchanged(body, body.createPassiveSellOfferOp.selling, body.createPassiveSellOfferOp.amount)
    case 'manageBuyOffer':
      return purchase(body, body.manageBuyOfferOp)
    default:
      return undefined
  }
}

/** A price is the amount that is sold for one unit of what is bought. The ledger refuses one that is not positive. */
function purchase(
  body: OperationBody,
  { selling, buyAmount, price }: ManageBuyOfferOp,
): PartialEffects | undefined {
  if (price.n <= 0 || price.d <= 0) return undefined
  const [n, d] = [BigInt(price.n), BigInt(price.d)]
  return exchanged(body, selling, (buyAmount * n + d - 1n) / d)
}

function taken(asset: Asset, value: bigint): PartialEffects {
  return { amounts: [{ asset: assetName(asset), value }] }
}

/**
 * Whoever has the offers takes what is exchanged, at any price: a path through an asset of somebody's own gives that person everything, whatever
 * arrives at the destination. A path payment of one asset without a path exchanges nothing.
 */
function exchanged(body: OperationBody, asset: Asset, value: bigint): PartialEffects {
  const amounts = taken(asset, value)
  return isPlainPayment(body)
    ? amounts
    : { ...amounts, unread: [{ target: operationName(body), isCounted: true }] }
}

function isPlainPayment(body: OperationBody): boolean {
  const payment =
    body.type === 'pathPaymentStrictSend'
      ? body.pathPaymentStrictSendOp
      : body.type === 'pathPaymentStrictReceive'
        ? body.pathPaymentStrictReceiveOp
        : undefined
  return (
    payment !== undefined &&
    payment.path.length === 0 &&
    assetName(payment.sendAsset) === assetName(payment.destAsset)
  )
}

/**
 * `account_merge` sends all lumens; the others give rights on the account, use its rights over others, move unknown amounts, or can end the account
 * (`bump_sequence`: no number comes after the largest one).
 */
function unreadEffects(body: OperationBody): PartialEffects {
  const unread = [{ target: operationName(body) }]
  return body.type === 'accountMerge' ? { receivers: [underlying(body.destination)], unread } : { unread }
}
