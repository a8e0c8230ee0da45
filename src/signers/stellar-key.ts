import { StrKey } from '@stellar/stellar-sdk/base'

/** Encodes an ed25519 public key of 32 bytes as an account id, `G…` (SEP-23). */
export function stellarAddress(publicKey: Uint8Array): string {
  return StrKey.encodeEd25519PublicKey(Buffer.from(publicKey))
}

/** Decodes a secret seed, `S…` (SEP-23). Returns undefined for any other text. */
export function seedOfStellarKey(text: string): Uint8Array | undefined {
  if (!StrKey.isValidEd25519SecretSeed(text)) return undefined
  return Uint8Array.from(StrKey.decodeEd25519SecretSeed(text))
}
