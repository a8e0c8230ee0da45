import type { Secret } from '../configuration/secret.ts'
import { createSecp256k1Signer, isPrivateKey } from './secp256k1.ts'
import type { Secp256k1Signer } from './signer.ts'

const PRIVATE_KEY = /^(?:0x)?([0-9a-fA-F]{64})$/

/** The 32 bytes of a key written as 64 hex digits, with or without `0x`; undefined when it is no secp256k1 key. */
export function parsePrivateKey(text: string): Uint8Array | undefined {
  const digits = PRIVATE_KEY.exec(text.trim())?.[1]
  if (digits === undefined) return undefined
  const key = Uint8Array.from(Buffer.from(digits, 'hex'))
  return isPrivateKey(key) ? key : undefined
}

/** A signer whose key stands in the configuration or the environment. Undefined when it is no key. */
export function loadPlainSigner(config: {
  readonly id: string
  readonly key: Secret
}): Secp256k1Signer | undefined {
  const key = parsePrivateKey(config.key.reveal())
  return key && createSecp256k1Signer(config.id, key)
}
