import { StrKey } from '@stellar/stellar-sdk/base'
import { MuxedAccount, MuxedAccountMed25519, PublicKey } from '@stellar/stellar-sdk/xdr'

/** Addresses of people and of programs (SEP-23): what they are, and their bytes. */

/** `G…`, with a right checksum. */
export function isAccountId(text: string): boolean {
  return StrKey.isValidEd25519PublicKey(text)
}

/** `G…`, or `M…`: an account and a number that its owner gives to a customer (CAP-27). */
export function isAccountAddress(text: string): boolean {
  return isAccountId(text) || StrKey.isValidMed25519PublicKey(text)
}

/** `C…`, with a right checksum. */
export function isContractAddress(text: string): boolean {
  return StrKey.isValidContract(text)
}

/** The `G…` address of an ed25519 public key of 32 bytes. */
export function accountIdOf(publicKey: Uint8Array): string {
  return StrKey.encodeEd25519PublicKey(publicKey)
}

/** The public key of a `G…` address. */
export function publicKeyOf(accountId: string): Uint8Array {
  return StrKey.decodeEd25519PublicKey(accountId)
}

/** A `G…` address as XDR. */
export function toPublicKey(accountId: string): PublicKey {
  return PublicKey.publicKeyTypeEd25519(publicKeyOf(accountId))
}

/** A `G…` or `M…` address as XDR. SEP-23: `M…` holds the key first and then the number. */
export function toMuxedAccount(address: string): MuxedAccount {
  if (isAccountId(address)) return MuxedAccount.keyTypeEd25519(publicKeyOf(address))
  const bytes = Buffer.from(StrKey.decodeMed25519PublicKey(address))
  return MuxedAccount.keyTypeMuxedEd25519(
    new MuxedAccountMed25519({ id: bytes.readBigUInt64BE(32), ed25519: bytes.subarray(0, 32) }),
  )
}

/** The account that an address means, without the number of a muxed one. */
export function baseAccountId(address: string): string {
  return underlying(toMuxedAccount(address))
}

/** The account behind a source or a destination in XDR, `G…`. */
export function underlying(account: MuxedAccount): string {
  const key = account.type === 'keyTypeEd25519' ? account.ed25519 : account.med25519.ed25519
  return accountIdOf(key.toBytes())
}
