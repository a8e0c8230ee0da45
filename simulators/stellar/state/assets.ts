import {
  Asset,
  encodeMuxedAccountToAddress,
  extractBaseAddress,
  StrKey,
  type xdr,
} from '@stellar/stellar-sdk'

/** The smaller of two; `Math.min` would round. */
export function smaller(a: bigint, b: bigint): bigint {
  return [a, b].reduce((least, value) => (value < least ? value : least))
}

/** The larger of two. */
export function larger(a: bigint, b: bigint): bigint {
  return [a, b].reduce((most, value) => (value > most ? value : most))
}

/** Division of positive integers that rounds up. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

/** An asset by its name: `native`, or `CODE:ISSUER` (SEP-11). */
export function assetName(asset: xdr.Asset): string {
  if (asset.type === 'assetTypeNative') return 'native'
  const { code, issuer } = Asset.fromOperation(asset)
  return `${code}:${issuer}`
}

/** The account that issues it; no one issues the native asset. */
export function issuerOf(asset: string): string | undefined {
  return asset === 'native' ? undefined : asset.slice(asset.indexOf(':') + 1)
}

/** The address behind an account that may be muxed (CAP-27): G…. */
export function baseAddress(account: xdr.MuxedAccount): string {
  return extractBaseAddress(encodeMuxedAccountToAddress(account))
}

/** G… of an account id. */
export function addressOf(id: xdr.AccountId): string {
  return StrKey.encodeEd25519PublicKey(id.ed25519.toBytes())
}

/** Letters and digits, none of them missing in between (stellar-core `isAssetValid`). */
export function isValidAsset(asset: xdr.Asset): boolean {
  if (asset.type === 'assetTypeNative') return true
  const alphaNumeric = asset.type === 'assetTypeCreditAlphanum4' ? asset.alphaNum4 : asset.alphaNum12
  const code = Buffer.from(alphaNumeric.assetCode.toBytes()).toString('latin1').replace(/\0+$/, '')
  const shortest = asset.type === 'assetTypeCreditAlphanum4' ? 1 : 5
  return code.length >= shortest && /^[a-zA-Z0-9]+$/.test(code)
}
