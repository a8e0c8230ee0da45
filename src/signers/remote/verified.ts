import { createPublicKey, verify } from 'node:crypto'
import { libsecp256k1 } from '../libsecp256k1.ts'
import type { EcdsaSignature } from '../signer.ts'

/**
 * Completes an ECDSA signature of 64 bytes from elsewhere: lowers s (EIP-2) and finds the recovery number by trial. Returns undefined unless this
 * public key made it for this digest.
 */
export function verifiedEcdsa(
  bytes: Uint8Array,
  digest: Uint8Array,
  publicKey: Uint8Array,
): EcdsaSignature | undefined {
  try {
    const signature = libsecp256k1().signatureNormalize(Uint8Array.from(bytes))
    const recovery = ([0, 1] as const).find((candidate) =>
      isMadeBy(publicKey, { signature, candidate, digest }),
    )
    if (recovery === undefined) return undefined
    return { r: signature.slice(0, 32), s: signature.slice(32), recovery }
  } catch {
    // The library throws for numbers that no signature has.
    return undefined
  }
}

interface Candidate {
  readonly signature: Uint8Array
  readonly candidate: 0 | 1
  readonly digest: Uint8Array
}

function isMadeBy(publicKey: Uint8Array, { signature, candidate, digest }: Candidate): boolean {
  try {
    return Buffer.from(libsecp256k1().ecdsaRecover(signature, candidate, digest, false)).equals(publicKey)
  } catch {
    return false // Not every r is the coordinate of a point.
  }
}

/** Returns a copy of an Ed25519 signature from elsewhere; undefined unless this public key made it for this message. */
export function verifiedEd25519(
  bytes: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): Uint8Array | undefined {
  const x = Buffer.from(publicKey).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, message, key, bytes) ? Uint8Array.from(bytes) : undefined
}
