import type { Asset, Operation, OperationBody } from '@stellar/stellar-sdk/xdr'
import type { StellarRequest } from '../content.ts'
import { encodeOperation } from '../encode/operation.ts'
import { openEnvelope } from '../model/envelope.ts'
import { underlying } from '../model/strkey.ts'

/**
 * The most stroops of lumens that operations take from `account`, fees aside. `source` is the account of those without one of
 * their own. What a smart contract or an `account_merge` takes is not known before it happens, and not counted.
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

/** What a request moves out of the relayer's account, before any fee is known. Somebody else's content moves theirs. */
export function amountOutOf({ operations, transactionXdr, feeBump }: StellarRequest): bigint {
  if (feeBump === true) return 0n
  if (transactionXdr === undefined) {
    return (operations ?? []).reduce((sum, operation) => sum + outflowOf(encodeOperation(operation).body), 0n)
  }
  const { tx } = openEnvelope(transactionXdr)
  const source = underlying(tx.sourceAccount)
  return nativeOutflow(tx.operations, source, source)
}
