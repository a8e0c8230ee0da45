import { getBase58Decoder } from '@solana/kit'

/** The address of an ed25519 public key of 32 bytes: the key itself in base58. */
export function solanaAddress(publicKey: Uint8Array): string {
  return getBase58Decoder().decode(publicKey)
}
