import { SignerKey as SignerKeys } from '@stellar/stellar-sdk/base'
import { OperationBody, SetOptionsOp, Signer, type SignerKey } from '@stellar/stellar-sdk/xdr'
import type { SetOptionsOperation } from '../model/operation.ts'
import { toPublicKey } from '../model/strkey.ts'

/** Encodes `set_options` as XDR: absent fields stay unchanged on the account. */
export function encodeSetOptions(operation: SetOptionsOperation): OperationBody {
  const { inflation_destination: destination, signer } = operation
  return OperationBody.setOptions(
    new SetOptionsOp({
      inflationDest: destination === undefined ? null : toPublicKey(destination),
      clearFlags: operation.clear_flags ?? null,
      setFlags: operation.set_flags ?? null,
      masterWeight: operation.master_weight ?? null,
      lowThreshold: operation.low_threshold ?? null,
      medThreshold: operation.medium_threshold ?? null,
      highThreshold: operation.high_threshold ?? null,
      homeDomain: operation.home_domain ?? null,
      signer:
        signer === undefined
          ? null
          : new Signer({ key: SignerKeys.decodeAddress(signer.key), weight: signer.weight }),
    }),
  )
}

/** Reads a signer's key; undefined for other text (SEP-23). */
export function readSignerKey(text: string): SignerKey | undefined {
  try {
    return SignerKeys.decodeAddress(text)
  } catch {
    return undefined // The SDK throws: a wrong letter, length or checksum.
  }
}
