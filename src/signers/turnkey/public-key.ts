import { libsecp256k1 } from '../libsecp256k1.ts'
import type { PublicKeys } from '../remote/remote-key.ts'

const ED25519_BYTES = 32

/** Reads a public key in hex digits: 32 bytes of Ed25519, or 33 or 65 of secp256k1. Returns undefined for any other text. */
export function readTurnkeyPublicKey(text: string): PublicKeys | undefined {
  const digits = /^(?:0x)?((?:[0-9a-fA-F]{2})+)$/.exec(text)?.[1]
  if (digits === undefined) return undefined
  const bytes = new Uint8Array(Buffer.from(digits, 'hex'))
  if (bytes.length === ED25519_BYTES) return { ed25519: bytes }
  try {
    return { secp256k1: libsecp256k1().publicKeyConvert(bytes, false) }
  } catch {
    return undefined
  }
}
