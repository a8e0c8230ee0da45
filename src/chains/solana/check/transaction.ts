import { isBy } from '../signature.ts'
import { addressBytes } from '../wire/base58.ts'
import {
  isVersion1,
  MAX_TRANSACTION_BYTES,
  readTransaction,
  type WireTransaction,
} from '../wire/transaction.ts'
import { type Problem, readBase64 } from './fields.ts'
import { checkLimits } from './limits.ts'

/** Checks a prebuilt transaction. With `partial`, others may sign it after the relayer. */
export function checkTransaction(base64: string, self: string, { partial = false } = {}): Problem {
  const raw = readBase64(base64)
  if (raw === undefined) return 'transaction: base64 with padding is expected.'
  if (isVersion1(raw))
    return 'transaction: a legacy transaction or one of version 0 is expected; version 1 (SIMD-0385, up to 4096 bytes) is not supported.'
  if (raw.length > MAX_TRANSACTION_BYTES) {
    return `transaction: at most ${MAX_TRANSACTION_BYTES} bytes are expected, ${raw.length} were given.`
  }
  const transaction = readTransaction(raw)
  if (transaction === undefined) {
    return 'transaction: a transaction in wire format is expected, legacy or version 0.'
  }
  const [payer] = transaction.message.staticAccounts
  if (payer !== self) return `transaction: the relayer ${self} is expected as the fee payer, not ${payer}.`
  const problem = checkLimits(transaction.message)
  return problem === undefined ? checkSignatures(transaction, partial) : `transaction: ${problem}`
}

/** The signature slot of the relayer itself may contain anything. */
function checkSignatures({ signatures, message, messageBytes }: WireTransaction, partial: boolean): Problem {
  for (const [index, signature] of signatures.entries()) {
    const signer = message.staticAccounts[index]
    if (index === 0 || signer === undefined) continue
    const missing = signature.every((byte) => byte === 0)
    if (missing && partial) continue
    if (missing) return `transaction: the signature of ${signer} is missing; only the relayer's may be.`
    if (!isBy(signature, addressBytes(signer), messageBytes))
      return `transaction: the signature of ${signer} is not for this transaction.`
  }
  return undefined
}
