import { xdr } from '@stellar/stellar-sdk'

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

/** Returns true when an operation succeeded. */
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
