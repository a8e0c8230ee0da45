import {
  compactSignatureToSignature,
  type Hex,
  isErc6492Signature,
  parseCompactSignature,
  parseErc6492Signature,
  parseSignature,
  recoverAddress,
  serializeSignature,
  size,
} from 'viem'
import { hexOf, malformed } from './fields.ts'
import { type EvmPayment, isSame } from './payment.ts'

/** Signatures of contracts may be long, but a payer must not make every simulation slow. */
const MAX_SIGNATURE_BYTES = 8192

/** Reads the signature of a payload, and finds out whether the payer's own key made it. */
export async function readSignature(
  payload: Readonly<Record<string, unknown>>,
  hash: Hex,
  payer: Hex,
): Promise<Pick<EvmPayment, 'signature' | 'signedByKey' | 'creation'>> {
  const whole = hexOf(payload, 'signature')
  if (size(whole) > MAX_SIGNATURE_BYTES) throw malformed('signature', `at most ${MAX_SIGNATURE_BYTES} bytes`)
  if (!isErc6492Signature(whole)) {
    const ofKey = spelledOut(whole)
    return ofKey !== undefined && (await isOfKey(ofKey, hash, payer))
      ? { signature: ofKey, signedByKey: true, creation: undefined }
      : { signature: whole, signedByKey: false, creation: undefined }
  }
  try {
    const { address: to, data = '0x', signature } = parseErc6492Signature(whole)
    if (to === undefined) return { signature, signedByKey: false, creation: undefined }
    return { signature, signedByKey: false, creation: { to, data } }
  } catch {
    throw malformed('signature', 'a signature as ERC-6492 wraps it')
  }
}

/**
 * Returns the signature of a key in the form that contracts accept: r, s, and v as 27 or 28. Wallets also
 * write v as 0 or 1, or the short form of 64 bytes (EIP-2098). Undefined if it is none of them.
 */
function spelledOut(signature: Hex): Hex | undefined {
  try {
    if (size(signature) === 64)
      return serializeSignature(compactSignatureToSignature(parseCompactSignature(signature)))
    return size(signature) === 65 ? serializeSignature(parseSignature(signature)) : undefined
  } catch {
    return undefined
  }
}

/**
 * Signatures whose `s` is in the upper half are others' copies of a payer's signature, which tokens refuse.
 */
async function isOfKey(signature: Hex, hash: Hex, payer: Hex): Promise<boolean> {
  try {
    return isSame(await recoverAddress({ hash, signature }), payer)
  } catch {
    return false
  }
}

/** Returns a signature as the older functions of tokens take it. */
export function split(signature: Hex): readonly [v: number, r: Hex, s: Hex] {
  const { r, s, yParity } = parseSignature(signature)
  return [yParity + 27, r, s]
}
