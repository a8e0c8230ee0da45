import { SignerKey as SignerKeys } from '@stellar/stellar-sdk/base'
import { OperationBody, SetOptionsOp, Signer, type SignerKey } from '@stellar/stellar-sdk/xdr'
import type { SetOptionsOperation } from '../model/operation.ts'
import { toPublicKey } from '../model/strkey.ts'

/** `set_options` as XDR: what is absent stays as it is on the account. */
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

/** A signer's key as XDR; undefined for text that is none (SEP-23). */
export function readSignerKey(text: string): SignerKey | undefined {
  try {
    return SignerKeys.decodeAddress(text)
  } catch {
    return undefined // The SDK says it with an exception: a wrong letter, length or checksum.
  }
}
