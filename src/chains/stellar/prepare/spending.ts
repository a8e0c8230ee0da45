import type { Asset, Operation, OperationBody } from '@stellar/stellar-sdk/xdr'
import type { StellarRequest } from '../content.ts'
import { encodeOperation } from '../encode/operation.ts'
import { openEnvelope } from '../model/envelope.ts'
import { underlying } from '../model/strkey.ts'

/**
 * Returns the highest amount of lumens that operations take from `account`, in stroops, without fees. `source` is the account of operations
 * without one of their own. The amounts of smart contracts and of `account_merge` are unknown in advance, so they do not count.
 */
export function nativeOutflow(operations: readonly Operation[], source: string, account: string): bigint {
  return operations
    .filter(({ sourceAccount }) => (sourceAccount === null ? source : underlying(sourceAccount)) === account)
    .reduce((sum, { body }) => sum + outflowOf(body), 0n)
}

function outflowOf(body: OperationBody): bigint {
  switch (body.type) {
    case 'createAccount':
      return body.createAccountOp.startingBalance
    case 'payment':
      return ifNative(body.paymentOp.asset, body.paymentOp.amount)
    case 'pathPaymentStrictSend':
      return ifNative(body.pathPaymentStrictSendOp.sendAsset, body.pathPaymentStrictSendOp.sendAmount)
    case 'pathPaymentStrictReceive':
      return ifNative(body.pathPaymentStrictReceiveOp.sendAsset, body.pathPaymentStrictReceiveOp.sendMax)
    case 'createClaimableBalance':
      return ifNative(body.createClaimableBalanceOp.asset, body.createClaimableBalanceOp.amount)
    default:
      return 0n
  }
}

function ifNative(asset: Asset, amount: bigint): bigint {
  return asset.type === 'assetTypeNative' ? amount : 0n
}

/**
 * Returns the amount that a request moves out of the relayer's account, before any fee is known. Externally signed content moves the money
 * of its own source.
 */
export function amountOutOf({ operations, transactionXdr, feeBump }: StellarRequest): bigint {
  if (feeBump === true) return 0n
  if (transactionXdr === undefined) {
    return (operations ?? []).reduce((sum, operation) => sum + outflowOf(encodeOperation(operation).body), 0n)
  }
  const { tx } = openEnvelope(transactionXdr)
  const source = underlying(tx.sourceAccount)
  return nativeOutflow(tx.operations, source, source)
}
