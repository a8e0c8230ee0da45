import { StrKey } from '@stellar/stellar-sdk/base'

/** The account id, `G…`, of an ed25519 public key of 32 bytes (SEP-23). */
export function stellarAddress(publicKey: Uint8Array): string {
  return StrKey.encodeEd25519PublicKey(Buffer.from(publicKey))
}
