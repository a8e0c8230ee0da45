import { createEd25519Signer } from './ed25519.ts'
import { createSecp256k1Signer, isPrivateKey } from './secp256k1.ts'
import type { Ed25519Signer, Secp256k1Signer } from './signer.ts'

/**
 * The secret of one configured signer: 32 bytes, which are a private key of secp256k1 and the seed of an ed25519 key. Which
 * of the two it is used as is decided by the network of the relayer that refers to it.
 */
export interface Key {
  readonly id: string
  readonly secp256k1: Secp256k1Signer
  readonly ed25519: Ed25519Signer
}

/** `secret` must satisfy `isPrivateKey`; it is copied. */
export function createKey(id: string, secret: Uint8Array): Key {
  return Object.freeze({
    id,
    secp256k1: createSecp256k1Signer(id, secret),
    ed25519: createEd25519Signer(id, secret),
  })
}

/** True for 32 bytes that both curves take. Of all seeds of ed25519, one in 2^128 is no key of secp256k1. */
export const isSecret = isPrivateKey
