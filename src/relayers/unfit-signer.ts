import type { NetworkType } from '../networks/network.ts'
import type { Key } from '../signers/key.ts'
import { typesFor } from '../signers/providers/registry.ts'
import type { Curve } from '../signers/signer.ts'

/** The curve of the accounts of each network type. */
const CURVES: Readonly<Record<NetworkType, Curve>> = {
  evm: 'secp256k1',
  stellar: 'ed25519',
  solana: 'ed25519',
}

/** A relayer names a signer whose key cannot sign for it. The message is a sentence without a full stop. */
export class UnfitSignerError extends Error {
  override readonly name = 'UnfitSignerError'
  /** The field of the relayer that has to change. */
  readonly field: 'signer_id' | 'channels'

  constructor(field: UnfitSignerError['field'], message: string) {
    super(message)
    this.field = field
  }
}

interface Unfit {
  readonly signerId: string
  readonly networkType: NetworkType
  /** Default: `signer_id`. */
  readonly field?: UnfitSignerError['field']
}

/** Makes the error for a key of another curve, or one whose service signs only for another network type of the same curve. */
export function unfitKey(key: Key, { signerId, networkType, field = 'signer_id' }: Unfit): UnfitSignerError {
  const curve = CURVES[networkType]
  const fitting = typesFor(curve, networkType).join(', ')
  if (networkType === 'stellar' && key.solana !== undefined)
    return new UnfitSignerError(
      field,
      `the service of signer "${signerId}" signs transactions and texts of Solana alone, and accounts of type stellar need signatures of hashes; signers of the types ${fitting} can make them`,
    )
  return new UnfitSignerError(
    field,
    `signer "${signerId}" has no ${curve} key, which accounts of type ${networkType} need; signers of the types ${fitting} can have one`,
  )
}

/** Makes the error for channel accounts of a key that cannot derive others. */
export function cannotDerive(signerId: string): UnfitSignerError {
  return new UnfitSignerError(
    'channels',
    `the key of signer "${signerId}" is in another service, so no channel accounts can be derived from it; name one signer for each channel in "channels"`,
  )
}
