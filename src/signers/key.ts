import { createEd25519Signer } from './ed25519.ts'
import { createSecp256k1Signer, isPrivateKey } from './secp256k1.ts'
import type { Ed25519Signer, Secp256k1Signer } from './signer.ts'

/**
 * The secret of one signer: 32 bytes, which are a private key of secp256k1 and the seed of an ed25519 key. The network of the relayer
 * decides between the two.
 */
export interface Key {
  readonly id: string
  readonly secp256k1: Secp256k1Signer
  readonly ed25519: Ed25519Signer
}

/** Creates the key of a secret that satisfies `isSecret`, and copies the secret. */
export function createKey(id: string, secret: Uint8Array): Key {
  return Object.freeze({
    id,
    secp256k1: createSecp256k1Signer(id, secret),
    ed25519: createEd25519Signer(id, secret),
  })
}

/** Accepts 32 bytes that both curves accept. One seed of ed25519 in 2^128 is not a key of secp256k1. */
export const isSecret = isPrivateKey
