import { createPublicKey, verify } from 'node:crypto'
import { DecoratedSignature } from '@stellar/stellar-sdk/xdr'
import type { Signer } from '../../signers/signer.ts'
import type { MessageSignature, Signature } from '../attempt.ts'
import { accountIdOf } from './model/strkey.ts'

/** A signer with an ed25519 key, the curve of Stellar. */
export type StellarSigner = Extract<Signer, { curve: 'ed25519' }>

/**
 * Returns the signer with the right type.
 * @throws Error for another curve: the configuration is checked before anything is signed
 */
export function stellarSigner(signer: Signer | undefined): StellarSigner {
  if (signer?.curve !== 'ed25519') throw new Error('a Stellar account needs a signer of curve ed25519')
  return signer
}

/** Signs a hash, and adds the last 4 bytes of the key as the hint by which the network finds it. */
export async function signHash(
  hash: Uint8Array,
  signer: StellarSigner,
): Promise<{ readonly decorated: DecoratedSignature; readonly bytes: Uint8Array }> {
  const bytes = await signer.sign(hash)
  return { decorated: new DecoratedSignature({ hint: hintOf(signer.publicKey), signature: bytes }), bytes }
}

/** Signs a hash for somebody who takes the signature without an envelope: in the contract's form, and in base64 with the `G…` address. */
export async function signDetached(hash: Uint8Array, signer: StellarSigner): Promise<MessageSignature> {
  const bytes = await signer.sign(hash)
  return {
    ...presentSignature(bytes),
    signature: Buffer.from(bytes).toString('base64'),
    publicKey: addressOf(signer),
  }
}

/** Returns true when the hint of a signature names this key. */
export function claimsToBeBy({ hint }: DecoratedSignature, publicKey: Uint8Array): boolean {
  return Buffer.from(hint.toBytes()).equals(hintOf(publicKey))
}

/** Returns true when this key made the signature. */
export function isBy({ signature }: DecoratedSignature, publicKey: Uint8Array, hash: Uint8Array): boolean {
  const bytes = signature.toBytes()
  return bytes.length === 64 && verify(null, hash, toKeyObject(publicKey), bytes)
}

/** Returns the 64 bytes in the contract's form: both halves, the whole, and no recovery number. */
export function presentSignature(bytes: Uint8Array): Signature {
  const sig = Buffer.from(bytes).toString('hex')
  return { r: sig.slice(0, 64), s: sig.slice(64), v: 0, sig }
}

/** Returns the `G…` address of a signer. */
function addressOf(signer: StellarSigner): string {
  return accountIdOf(signer.publicKey)
}

function hintOf(publicKey: Uint8Array): Buffer {
  return Buffer.from(publicKey.subarray(-4))
}

function toKeyObject(publicKey: Uint8Array) {
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') },
    format: 'jwk',
  })
}
