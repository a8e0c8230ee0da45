import { xdr } from '@stellar/stellar-sdk'

const WORD_BYTES = 4
/** How many words of zeros follow the code of a successful result that says something (Stellar-transaction.x). */
const PAYLOAD_WORDS: Readonly<Partial<Record<xdr.OperationBodyVariantName, number>>> = {
  // No offers; then an account (9), the native asset (1), an amount (2).
  pathPaymentStrictReceive: 13,
  pathPaymentStrictSend: 13,
  inflation: 1,
  accountMerge: 2,
  createClaimableBalance: 9,
  invokeHostFunction: 8,
}

/** Whether an operation did what it says. */
export function succeeded(result: xdr.OperationResult): boolean {
  return result.type === 'opInner' && result.tr.value.type.endsWith('Success')
}

/** What stands for the result of an operation that was not looked at (`OperationFrame::resetResultSuccess`). */
export function untouchedResult(body: xdr.OperationBody): xdr.OperationResult {
  // Their results are of a shape that this ledger never fills.
  if (body.type.includes('Offer')) return xdr.OperationResult.opNotSupported()
  const type = xdr.OperationType[body.type].value
  const bytes = Buffer.alloc((3 + (PAYLOAD_WORDS[body.type] ?? 0)) * WORD_BYTES)
  bytes.writeInt32BE(type, WORD_BYTES)
  return xdr.OperationResult.fromXdr(bytes)
}
