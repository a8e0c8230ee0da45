import type { Asset, OperationBody } from '@stellar/stellar-sdk/xdr'
import { boundTransfers, type Transfer, type Transfers } from '../../effects.ts'
import type { StellarDraft, StellarRequest } from '../content.ts'
import { accountIdOf, underlying } from '../model/strkey.ts'
import { assetName, operationsOf } from './effects.ts'
import { readMovingCall } from './invocation.ts'

/** Every classic asset has seven decimals, as lumens have (CAP-46-6, stellar-core `Asset`). */
export const DECIMALS = 7

/**
 * Reads what content moves if it succeeds, operation by operation. Of an exchange it shows the side that the
 * operation fixes. Offers, merges and what other contracts do is not known.
 */
export function stellarTransfers(content: StellarRequest | StellarDraft, sender: string): Transfers {
  const request = 'envelope' in content ? { transactionXdr: content.envelope } : content
  return boundTransfers(
    operationsOf(request, sender).flatMap(({ body, source }) => transferIn(body, source) ?? []),
  )
}

/** Reads the transfer of one operation; undefined for an operation whose bytes show none. */
export function transferIn(body: OperationBody, from: string): Transfer | undefined {
  switch (body.type) {
    case 'createAccount': {
      const { destination, startingBalance: amount } = body.createAccountOp
      const to = accountIdOf(destination.ed25519.toBytes())
      return { from, to, asset: 'native', amount, decimals: DECIMALS }
    }
    case 'payment': {
      const { destination, asset, amount } = body.paymentOp
      return { from, to: underlying(destination), ...classic(asset), amount }
    }
    case 'pathPaymentStrictSend': {
      const { destination, sendAsset, sendAmount: amount } = body.pathPaymentStrictSendOp
      return { from, to: underlying(destination), ...classic(sendAsset), amount }
    }
    case 'pathPaymentStrictReceive': {
      const { destination, destAsset, destAmount: amount } = body.pathPaymentStrictReceiveOp
      return { from, to: underlying(destination), ...classic(destAsset), amount }
    }
    case 'createClaimableBalance': {
      const { claimants, asset, amount } = body.createClaimableBalanceOp
      const [first, ...others] = claimants.map(({ v0 }) => accountIdOf(v0.destination.ed25519.toBytes()))
      const isFor = first !== undefined && others.length === 0
      return { from, ...(isFor && { to: first }), ...classic(asset), amount }
    }
    case 'invokeHostFunction': {
      const { hostFunction } = body.invokeHostFunctionOp
      if (hostFunction.type !== 'hostFunctionTypeInvokeContract') return undefined
      const call = readMovingCall(hostFunction.invokeContract)
      if (call === undefined || call.isAllowance) return undefined
      const { owner, receiver, asset, amount } = call
      return { from: owner, ...(receiver !== undefined && { to: receiver }), asset, amount }
    }
    default:
      return undefined
  }
}

/** Names a classic asset, with its decimals. */
export function classic(asset: Asset) {
  return { asset: assetName(asset), decimals: DECIMALS }
}
