import type {
  Asset,
  HostFunction,
  ManageBuyOfferOp,
  OperationBody,
  Transaction,
} from '@stellar/stellar-sdk/xdr'
import { larger } from '../../../lib/bigint.ts'
import { type Effects, joinEffects, NATIVE, type PartialEffects } from '../../effects.ts'
import type { StellarRequest } from '../content.ts'
import { encodeOperation } from '../encode.ts'
import { openEnvelope } from '../model/envelope.ts'
import { accountIdOf, baseAccountId, underlying } from '../model/strkey.ts'
import { calledContracts, externallySignedInvocationEffects, invocationEffects } from './invocation.ts'

/**
 * Returns the effects of a checked request on the relayer's account `address`. The relayer authorizes with
 * its signature what a simulation finds necessary, so the effects of a prepared envelope, read as
 * `transactionXdr`, can be more than those of the request for it.
 */
export function stellarEffects(request: StellarRequest, address: string): Effects {
  return joinEffects(
    operationsOf(request, address).map(({ body, own }) => ({
      operations: [operationName(body)],
      contracts: calledContracts(body),
      ...(own ? ownEffects(body, address) : externallySignedEffects(body, address)),
    })),
  )
}

/**
 * Returns the next sequence number of the account after a request that raises it by operations (BumpSequence,
 * CAP-1); undefined if none does.
 */
export function nextSequence(request: StellarRequest, address: string): bigint | undefined {
  const targets = operationsOf(request, address).flatMap(({ body, own }) =>
    own && body.type === 'bumpSequence' ? [body.bumpSequenceOp.bumpTo + 1n] : [],
  )
  return targets.length === 0 ? undefined : targets.reduce(larger)
}

/** An operation, and the account that it acts on. */
export interface SourcedOperation {
  readonly body: OperationBody
  /** The account that it acts on, `G…`. */
  readonly source: string
  /** The operation acts on the relayer's account. */
  readonly own: boolean
}

/**
 * Externally signed content moves the money of its own sources. In unsigned content every operation counts as
 * the relayer's own: no other account signs it.
 */
export function operationsOf(request: SourcedContent, address: string): SourcedOperation[] {
  const { operations = [], transactionXdr, feeBump = false, sourceAccount: requested } = request
  if (transactionXdr === undefined) {
    const source = requested === undefined ? address : baseAccountId(requested)
    return operations.map((operation) => ({ body: encodeOperation(operation).body, source, own: true }))
  }
  return operationsIn(openEnvelope(transactionXdr).tx).map(({ body, source }) => ({
    body,
    source,
    own: !feeBump || source === address,
  }))
}

/** Returns the operations of a transaction, and the account that each acts on. */
export function operationsIn(tx: Transaction): readonly Omit<SourcedOperation, 'own'>[] {
  return tx.operations.map(({ body, sourceAccount }) => ({
    body,
    source: underlying(sourceAccount ?? tx.sourceAccount),
  }))
}

/** The parts of a request that name operations and their sources. */
type SourcedContent = Pick<StellarRequest, 'operations' | 'transactionXdr' | 'feeBump' | 'sourceAccount'>

function ownEffects(body: OperationBody, address: string): PartialEffects {
  return body.type === 'invokeHostFunction'
    ? invocationEffects(body.invokeHostFunctionOp, address)
    : classicEffects(body)
}

function externallySignedEffects(body: OperationBody, address: string): PartialEffects {
  return body.type === 'invokeHostFunction'
    ? externallySignedInvocationEffects(body.invokeHostFunctionOp, address)
    : {}
}

/**
 * Operations that neither take assets from the account nor give rights on it. Fees and reserves do not count.
 */
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

/**
 * Returns the effects of an operation other than `invokeHostFunction` on its source. A type that is not known
 * here counts as unread.
 */
function classicEffects(body: OperationBody): PartialEffects {
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

/**
 * A price is the amount that is sold for one unit of what is bought. The ledger refuses one that is not
 * positive.
 */
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
 * The owners of the offers take what is exchanged, at any price: with a path through an asset that one of
 * them issued, that owner can take everything, regardless of what arrives at the destination. A path payment
 * of one asset without a path exchanges nothing.
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
 * `account_merge` sends all lumens; the others give rights on the account, use its rights over others, move
 * unknown amounts, or can end the account (`bump_sequence`: no number comes after the largest one).
 */
function unreadEffects(body: OperationBody): PartialEffects {
  const unread = [{ target: operationName(body) }]
  return body.type === 'accountMerge' ? { receivers: [underlying(body.destination)], unread } : { unread }
}

/**
 * Returns the type of an operation as the contract's `OperationSpec` names it; for the others, the name of
 * XDR in snake case.
 */
function operationName(body: OperationBody): string {
  return body.type === 'invokeHostFunction'
    ? HOST_FUNCTIONS[body.invokeHostFunctionOp.hostFunction.type]
    : body.type.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const HOST_FUNCTIONS: Readonly<Record<HostFunction['type'], string>> = {
  hostFunctionTypeInvokeContract: 'invoke_contract',
  hostFunctionTypeCreateContract: 'create_contract',
  hostFunctionTypeCreateContractV2: 'create_contract',
  hostFunctionTypeUploadContractWasm: 'upload_wasm',
}

/** Returns `native`, or `CODE:ISSUER` (SEP-11). */
export function assetName(asset: Asset): string {
  if (asset.type === 'assetTypeNative') return NATIVE
  const { assetCode, issuer } = asset.type === 'assetTypeCreditAlphanum4' ? asset.alphaNum4 : asset.alphaNum12
  // XDR fills short codes with zero bytes.
  const code = Buffer.from(assetCode.toBytes()).toString('latin1').replace(/\0+$/, '')
  return `${code}:${accountIdOf(issuer.ed25519.toBytes())}`
}
