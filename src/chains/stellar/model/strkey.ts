import { StrKey } from '@stellar/stellar-sdk/base'
import { MuxedAccount, MuxedAccountMed25519, PublicKey } from '@stellar/stellar-sdk/xdr'

/** Addresses of accounts and contracts (SEP-23), and their bytes. */

/** Checks a `G…` address with its checksum. */
export function isAccountId(text: string): boolean {
  return StrKey.isValidEd25519PublicKey(text)
}

/**
 * Checks a `G…` address, or an `M…` address: an account and a number that its owner assigns to a customer
 * (CAP-27).
 */
export function isAccountAddress(text: string): boolean {
  return isAccountId(text) || StrKey.isValidMed25519PublicKey(text)
}

/** Checks a `C…` address with its checksum. */
export function isContractAddress(text: string): boolean {
  return StrKey.isValidContract(text)
}

/** Returns the `G…` address of an ed25519 public key of 32 bytes. */
export function accountIdOf(publicKey: Uint8Array): string {
  return StrKey.encodeEd25519PublicKey(publicKey)
}

/** Returns the public key of a `G…` address. */
export function publicKeyOf(accountId: string): Uint8Array {
  return StrKey.decodeEd25519PublicKey(accountId)
}

/** Encodes a `G…` address as XDR. */
export function toPublicKey(accountId: string): PublicKey {
  return PublicKey.publicKeyTypeEd25519(publicKeyOf(accountId))
}

/** Encodes a `G…` or `M…` address as XDR. `M…` contains the key first and then the number (SEP-23). */
export function toMuxedAccount(address: string): MuxedAccount {
  if (isAccountId(address)) return MuxedAccount.keyTypeEd25519(publicKeyOf(address))
  const bytes = Buffer.from(StrKey.decodeMed25519PublicKey(address))
  return MuxedAccount.keyTypeMuxedEd25519(
    new MuxedAccountMed25519({ id: bytes.readBigUInt64BE(32), ed25519: bytes.subarray(0, 32) }),
  )
}

/** Returns the account of an address, without the number of a muxed one. */
export function baseAccountId(address: string): string {
  return underlying(toMuxedAccount(address))
}

/** Returns the account of a source or a destination in XDR, `G…`. */
export function underlying(account: MuxedAccount): string {
  const key = account.type === 'keyTypeEd25519' ? account.ed25519 : account.med25519.ed25519
  return accountIdOf(key.toBytes())
}
