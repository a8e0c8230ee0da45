import { Keypair, xdr } from '@stellar/stellar-sdk'
import { assetName, baseAddress, issuerOf, isValidAsset } from '../state/assets.ts'
import { type BalanceProblem, credit, debit, exists } from './balances.ts'
import { bought, cost } from './market.ts'
import type { OperationContext, Rule } from './rule.ts'

/** stellar-core PaymentOpFrame.cpp, which is a path payment without a path. */
export const payment: Rule<'payment'> = {
  level: () => 'medium',
  check({ paymentOp: { amount, asset } }) {
    return amount <= 0n || !isValidAsset(asset) ? result('paymentMalformed') : undefined
  },
  apply({ paymentOp: { destination, asset, amount } }, context) {
    const to = baseAddress(destination)
    const name = assetName(asset)
    if (to === context.source && name === 'native') return result('paymentSuccess')
    return result(pay(to, name, amount, context))
  },
}

const FROM_SOURCE: Readonly<Record<BalanceProblem, xdr.PaymentResultVariantName>> = {
  noTrust: 'paymentSrcNoTrust',
  notAuthorized: 'paymentSrcNotAuthorized',
  underfunded: 'paymentUnderfunded',
  lineFull: 'paymentLineFull',
}

const AT_DESTINATION: Readonly<Record<BalanceProblem, xdr.PaymentResultVariantName>> = {
  ...FROM_SOURCE,
  noTrust: 'paymentNoTrust',
  notAuthorized: 'paymentNotAuthorized',
}

/** The order of the steps decides which of two problems is named: the destination, its balance, then the source's. */
function pay(
  to: string,
  asset: string,
  amount: bigint,
  { changes, network, source }: OperationContext,
): xdr.PaymentResultVariantName {
  // Credit can always go back to its issuer, even to one whose account is gone (`shouldBypassIssuerCheck`).
  if (issuerOf(asset) !== to && !exists(changes, to)) return 'paymentNoDestination'
  const received = credit(changes, to, asset, amount)
  if (received) return AT_DESTINATION[received]
  const paid = debit(changes, network, source, asset, amount)
  return paid ? FROM_SOURCE[paid] : 'paymentSuccess'
}

function result(code: xdr.PaymentResultVariantName): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.payment(xdr.PaymentResult[code]()))
}

/** The result of a path payment; both kinds have the same results under different names. */
type End =
  | 'Malformed'
  | 'Underfunded'
  | 'SrcNoTrust'
  | 'SrcNotAuthorized'
  | 'NoDestination'
  | 'NoTrust'
  | 'NotAuthorized'
  | 'LineFull'
  | 'TooFewOffers'
  | 'OfferCrossSelf'

/** Both ends of a walk along a path, and what was exchanged on the way. */
interface Walk {
  readonly amount: bigint
  readonly offers: readonly xdr.ClaimAtom[]
}

/** stellar-core PathPaymentStrictSendOpFrame.cpp: the amount sent is fixed. */
export const pathPaymentStrictSend: Rule<'pathPaymentStrictSend'> = {
  level: () => 'medium',
  check({ pathPaymentStrictSendOp: op }) {
    const good =
      op.sendAmount > 0n && op.destMin > 0n && [op.sendAsset, op.destAsset, ...op.path].every(isValidAsset)
    return good ? undefined : sendResult('Malformed')
  },
  apply({ pathPaymentStrictSendOp: op }, context) {
    const { changes, network, source } = context
    const to = baseAddress(op.destination)
    if (!isReachable(to, op.sendAsset, op.destAsset, op.path, context)) return sendResult('NoDestination')
    const paid = debit(changes, network, source, assetName(op.sendAsset), op.sendAmount)
    if (paid) return sendResult(PATH_FROM_SOURCE[paid])
    const walk = walkForward([op.sendAsset, ...op.path, op.destAsset], op.sendAmount, context)
    if (typeof walk === 'string') return sendResult(walk)
    if (walk.amount < op.destMin)
      return sendInner(xdr.PathPaymentStrictSendResult.pathPaymentStrictSendUnderDestmin())
    const received = credit(changes, to, assetName(op.destAsset), walk.amount)
    if (received) return sendResult(PATH_AT_DESTINATION[received])
    const last = lastPayment(to, op.destAsset, walk.amount)
    const success = new xdr.PathPaymentStrictSendResultSuccess({ offers: [...walk.offers], last })
    return sendInner(xdr.PathPaymentStrictSendResult.pathPaymentStrictSendSuccess(success))
  },
}

/** stellar-core PathPaymentStrictReceiveOpFrame.cpp: the amount received is fixed. */
export const pathPaymentStrictReceive: Rule<'pathPaymentStrictReceive'> = {
  level: () => 'medium',
  check({ pathPaymentStrictReceiveOp: op }) {
    const good =
      op.destAmount > 0n && op.sendMax > 0n && [op.sendAsset, op.destAsset, ...op.path].every(isValidAsset)
    return good ? undefined : receiveResult('Malformed')
  },
  apply({ pathPaymentStrictReceiveOp: op }, context) {
    const { changes, network, source } = context
    const to = baseAddress(op.destination)
    if (!isReachable(to, op.sendAsset, op.destAsset, op.path, context)) return receiveResult('NoDestination')
    const received = credit(changes, to, assetName(op.destAsset), op.destAmount)
    if (received) return receiveResult(PATH_AT_DESTINATION[received])
    const walk = walkBackward([op.sendAsset, ...op.path, op.destAsset], op.destAmount, context)
    if (typeof walk === 'string') return receiveResult(walk)
    if (walk.amount > op.sendMax) {
      return receiveInner(xdr.PathPaymentStrictReceiveResult.pathPaymentStrictReceiveOverSendmax())
    }
    const paid = debit(changes, network, source, assetName(op.sendAsset), walk.amount)
    if (paid) return receiveResult(PATH_FROM_SOURCE[paid])
    const last = lastPayment(to, op.destAsset, op.destAmount)
    const success = new xdr.PathPaymentStrictReceiveResultSuccess({ offers: [...walk.offers], last })
    return receiveInner(xdr.PathPaymentStrictReceiveResult.pathPaymentStrictReceiveSuccess(success))
  },
}

const PATH_FROM_SOURCE: Readonly<Record<BalanceProblem, End>> = {
  noTrust: 'SrcNoTrust',
  notAuthorized: 'SrcNotAuthorized',
  underfunded: 'Underfunded',
  lineFull: 'LineFull',
}

const PATH_AT_DESTINATION: Readonly<Record<BalanceProblem, End>> = {
  ...PATH_FROM_SOURCE,
  noTrust: 'NoTrust',
  notAuthorized: 'NotAuthorized',
}

/** The destination exists, or gets nothing but its own credit back (`shouldBypassIssuerCheck`). */
function isReachable(
  to: string,
  sent: xdr.Asset,
  received: xdr.Asset,
  path: readonly xdr.Asset[],
  { changes }: OperationContext,
): boolean {
  const goesHome = path.length === 0 && sent.equals(received) && issuerOf(assetName(received)) === to
  return goesHome || exists(changes, to)
}

function walkForward(assets: readonly xdr.Asset[], sent: bigint, context: OperationContext): Walk | End {
  let amount = sent
  const offers: xdr.ClaimAtom[] = []
  for (const [give, get] of steps(assets)) {
    const offer = context.market.find(assetName(give), assetName(get))
    if (!offer) return 'TooFewOffers'
    if (offer.seller === context.source) return 'OfferCrossSelf'
    const received = bought(offer, amount)
    const exchange = { give, sold: amount, get, got: received }
    if (!settle(offer.seller, exchange, context)) return 'TooFewOffers'
    offers.push(claim(offer, exchange))
    amount = received
  }
  return { amount, offers }
}

function walkBackward(assets: readonly xdr.Asset[], received: bigint, context: OperationContext): Walk | End {
  let amount = received
  const offers: xdr.ClaimAtom[] = []
  for (const [give, get] of steps(assets).reverse()) {
    const offer = context.market.find(assetName(give), assetName(get))
    if (!offer) return 'TooFewOffers'
    if (offer.seller === context.source) return 'OfferCrossSelf'
    const sold = cost(offer, amount)
    const exchange = { give, sold, get, got: amount }
    if (!settle(offer.seller, exchange, context)) return 'TooFewOffers'
    offers.unshift(claim(offer, exchange))
    amount = sold
  }
  return { amount, offers }
}

/** Each pair of neighbours that differ: what is the same needs no exchange. */
function steps(assets: readonly xdr.Asset[]): (readonly [xdr.Asset, xdr.Asset])[] {
  return assets.slice(1).flatMap((get, index) => {
    const give = assets[index]
    return give && !give.equals(get) ? [[give, get] as const] : []
  })
}

interface Exchange {
  readonly give: xdr.Asset
  readonly sold: bigint
  readonly get: xdr.Asset
  readonly got: bigint
}

/**
 * Takes from the seller what it sells and gives it the price (`OfferExchange.cpp`, `crossOffer`), when it is an account of the ledger. False when it
 * cannot: stellar-core has taken such offers out of the book.
 */
function settle(
  seller: string,
  { give, sold, get, got }: Exchange,
  { changes, network }: OperationContext,
): boolean {
  if (!exists(changes, seller)) return true
  return (
    debit(changes, network, seller, assetName(get), got) === undefined &&
    credit(changes, seller, assetName(give), sold) === undefined
  )
}

function claim(offer: { id: bigint; seller: string }, { give, sold, get, got }: Exchange): xdr.ClaimAtom {
  return xdr.ClaimAtom.claimAtomTypeOrderBook(
    new xdr.ClaimOfferAtom({
      sellerId: Keypair.fromPublicKey(offer.seller).xdrAccountId(),
      offerId: offer.id,
      assetSold: get,
      amountSold: got,
      assetBought: give,
      amountBought: sold,
    }),
  )
}

function lastPayment(to: string, asset: xdr.Asset, amount: bigint): xdr.SimplePaymentResult {
  return new xdr.SimplePaymentResult({ destination: Keypair.fromPublicKey(to).xdrAccountId(), asset, amount })
}

function sendResult(end: End): xdr.OperationResult {
  return sendInner(xdr.PathPaymentStrictSendResult[`pathPaymentStrictSend${end}`]())
}

function sendInner(result: xdr.PathPaymentStrictSendResult): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.pathPaymentStrictSend(result))
}

function receiveResult(end: End): xdr.OperationResult {
  return receiveInner(xdr.PathPaymentStrictReceiveResult[`pathPaymentStrictReceive${end}`]())
}

function receiveInner(result: xdr.PathPaymentStrictReceiveResult): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.pathPaymentStrictReceive(result))
}
