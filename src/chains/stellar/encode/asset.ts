import { AlphaNum4, AlphaNum12, Asset, ChangeTrustAsset } from '@stellar/stellar-sdk/xdr'
import type { StellarAsset } from '../model/operation.ts'
import { toPublicKey } from '../model/strkey.ts'

/** Encodes an asset as XDR. */
export function encodeAsset(asset: StellarAsset): Asset {
  if (asset.type === 'native') return Asset.assetTypeNative()
  const issuer = toPublicKey(asset.issuer)
  return isShort(asset)
    ? Asset.assetTypeCreditAlphanum4(new AlphaNum4({ assetCode: asset.code, issuer }))
    : Asset.assetTypeCreditAlphanum12(new AlphaNum12({ assetCode: asset.code, issuer }))
}

/** Encodes the trust line of a `change_trust` as XDR. */
export function encodeTrustLine(asset: StellarAsset): ChangeTrustAsset {
  if (asset.type === 'native') return ChangeTrustAsset.assetTypeNative()
  const issuer = toPublicKey(asset.issuer)
  return isShort(asset)
    ? ChangeTrustAsset.assetTypeCreditAlphanum4(new AlphaNum4({ assetCode: asset.code, issuer }))
    : ChangeTrustAsset.assetTypeCreditAlphanum12(new AlphaNum12({ assetCode: asset.code, issuer }))
}

function isShort({ type }: StellarAsset): boolean {
  return type === 'credit4' || type === 'credit_alphanum4'
}
