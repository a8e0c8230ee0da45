import { createPublicKey, verify } from 'node:crypto'
import type { Signer } from '../../signers/signer.ts'
import type { Signature } from '../attempt.ts'

/** A signer with an ed25519 key, the curve of Solana. */
export type SolanaSigner = Extract<Signer, { curve: 'ed25519' }>

/**
 * Returns the signer with the right type.
 * @throws Error for another curve: the configuration is checked before anything is signed
 */
export function solanaSigner(signer: Signer | undefined): SolanaSigner {
  if (signer?.curve !== 'ed25519') throw new Error('a Solana account needs a signer of curve ed25519')
  return signer
}

/** Returns true when the 64 bytes are the signature of this message by this key. */
export function isBy(signature: Uint8Array, publicKey: Uint8Array, message: Uint8Array): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') },
    format: 'jwk',
  })
  return verify(null, message, key, signature)
}

/** Returns the 64 bytes in the contract's form: both halves, the whole, and no recovery number. */
export function presentSignature(bytes: Uint8Array): Signature {
  const sig = Buffer.from(bytes).toString('hex')
  return { r: sig.slice(0, 64), s: sig.slice(64), v: 0, sig }
}
