import type { Asset, HostFunction, OperationBody } from '@stellar/stellar-sdk/xdr'
import { NATIVE } from '../../effects.ts'
import { accountIdOf } from '../model/strkey.ts'

/** Returns the type of an operation as the contract's `OperationSpec` names it; for the others, the name of XDR in snake case. */
export function operationName(body: OperationBody): string {
  return body.type === 'invokeHostFunction'
    ? HOST_FUNCTIONS[body.invokeHostFunctionOp.hostFunction.type]
    : body.type.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const HOST_FUNCTIONS: Readonly<Record<HostFunction['type'], string>> = {
  hostFunctionTypeInvokeContract: 'invoke_contract',
  hostFunctionTypeCreateContract: 'create_contract',
  hostFunctionTypeCreateContractV2: 'create_contract',
  hostFunctionTypeUploadContractWasm: 'upload_wasm',
}

/** Returns `native`, or `CODE:ISSUER` (SEP-11). */
export function assetName(asset: Asset): string {
  if (asset.type === 'assetTypeNative') return NATIVE
  const { assetCode, issuer } = asset.type === 'assetTypeCreditAlphanum4' ? asset.alphaNum4 : asset.alphaNum12
  // XDR fills short codes with zero bytes.
  const code = Buffer.from(assetCode.toBytes()).toString('latin1').replace(/\0+$/, '')
  return `${code}:${accountIdOf(issuer.ed25519.toBytes())}`
}
