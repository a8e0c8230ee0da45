import { xdr } from '@stellar/stellar-sdk'
import type { Frame } from './frame.ts'

/** The result code of a transaction that is not a fee bump. */
export type TransactionCode = Exclude<
  xdr.TransactionResultResultVariantName,
  'txFeeBumpInnerSuccess' | 'txFeeBumpInnerFailed'
>

/** The result of a transaction by itself, or of the inner one of a fee bump. */
export interface Outcome {
  readonly code: TransactionCode
  /** Stroops. */
  readonly feeCharged: bigint
  /** The results of its operations; only with `txSuccess` and `txFailed`. */
  readonly operations: readonly xdr.OperationResult[]
}

/** The result of a frame. `inner` exists as soon as a fee bump itself was found valid. */
export interface FrameResult extends Outcome {
  readonly inner?: Outcome
}

/** Returns true if it succeeded, or would. */
export function isSuccess(frameResult: FrameResult): boolean {
  return (frameResult.inner ?? frameResult).code === 'txSuccess'
}

/** The result as the network writes it (Stellar-transaction.x, `TransactionResult`). */
export function toResultXdr(frame: Frame, frameResult: FrameResult): xdr.TransactionResult {
  return new xdr.TransactionResult({
    feeCharged: frameResult.feeCharged,
    result: frameResult.inner ? bumpResult(frame, frameResult.inner) : plainResult(frameResult),
    ext: xdr.TransactionResultExt.v0(),
  })
}

function bumpResult(frame: Frame, inner: Outcome): xdr.TransactionResultResult {
  const pair = new xdr.InnerTransactionResultPair({
    transactionHash: new xdr.Hash(frame.transaction.hash),
    result: new xdr.InnerTransactionResult({
      feeCharged: inner.feeCharged,
      result: innerResult(inner),
      ext: xdr.InnerTransactionResultExt.v0(),
    }),
  })
  return inner.code === 'txSuccess'
    ? xdr.TransactionResultResult.txFeeBumpInnerSuccess(pair)
    : xdr.TransactionResultResult.txFeeBumpInnerFailed(pair)
}

function plainResult({ code, operations }: Outcome): xdr.TransactionResultResult {
  if (code === 'txSuccess' || code === 'txFailed') return xdr.TransactionResultResult[code]([...operations])
  return xdr.TransactionResultResult[code]()
}

function innerResult({ code, operations }: Outcome): xdr.InnerTransactionResultResult {
  if (code === 'txSuccess' || code === 'txFailed') {
    return xdr.InnerTransactionResultResult[code]([...operations])
  }
  return xdr.InnerTransactionResultResult[code]()
}

const WORD_BYTES = 4
/** The number of zero words after the code of a successful result with a payload (Stellar-transaction.x). */
const PAYLOAD_WORDS: Readonly<Partial<Record<xdr.OperationBodyVariantName, number>>> = {
  // No offers; then an account (9), the native asset (1), an amount (2).
  pathPaymentStrictReceive: 13,
  pathPaymentStrictSend: 13,
  inflation: 1,
  accountMerge: 2,
  createClaimableBalance: 9,
  invokeHostFunction: 8,
}

/** Returns true if an operation succeeded. */
export function succeeded(result: xdr.OperationResult): boolean {
  return result.type === 'opInner' && result.tr.value.type.endsWith('Success')
}

/** Returns the result of an operation that was not applied (`OperationFrame::resetResultSuccess`). */
export function untouchedResult(body: xdr.OperationBody): xdr.OperationResult {
  // Their results are of a shape that this ledger never fills.
  if (body.type.includes('Offer')) return xdr.OperationResult.opNotSupported()
  const type = xdr.OperationType[body.type].value
  const bytes = Buffer.alloc((3 + (PAYLOAD_WORDS[body.type] ?? 0)) * WORD_BYTES)
  bytes.writeInt32BE(type, WORD_BYTES)
  return xdr.OperationResult.fromXdr(bytes)
}
