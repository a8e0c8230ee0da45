import { xdr } from '@stellar/stellar-sdk'
import { assetName, baseAddress, issuerOf, isValidAsset } from '../assets.ts'
import { type BalanceProblem, credit, debit, exists } from './balances.ts'
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
