import type { SourceAccount } from '../../chains/chain.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { NetworkType } from '../../networks/network.ts'
import type { Key } from '../../signers/key.ts'
import { typesFor } from '../../signers/providers/registry.ts'
import type { Signer } from '../../signers/signer.ts'
import { channelsOf, type RelayerConfig } from '../relayer.ts'

/** The relayer's own account first, then its channels. */
export type SourceAccounts = readonly [SourceAccount, ...SourceAccount[]]

/** Finds the key of a signer; undefined if the signer does not exist. */
export type FindKey = (signerId: string) => Promise<Key | undefined>

/** A relayer names a signer that does not exist. */
export class MissingSignerError extends Error {
  override readonly name = 'MissingSignerError'
  readonly signerId: string

  constructor(signerId: string) {
    super(`there is no signer "${signerId}"`)
    this.signerId = signerId
  }
}

/**
 * Derives the accounts whose nonces a relayer takes.
 * @throws MissingSignerError if a signer that it names does not exist
 * @throws UnfitSignerError if the key of one cannot sign for it
 */
export async function sourceAccountsOf(relayer: RelayerConfig, findKey: FindKey): Promise<SourceAccounts> {
  const { networkType, signerId, accountIndex } = relayer
  const key = await keyAt(await requireKey(findKey, signerId), accountIndex)
  const own = key[networkType]
  if (own === undefined) throw unfitKey(key, relayer)
  const addressOf = await FAMILIES[networkType].loadAddress()
  const channels = await channelSigners({ relayer, own, findKey })
  const accountOf = (signer: Signer) => ({ address: addressOf(signer.publicKey), signer })
  return [accountOf(own), ...channels.map(accountOf)]
}

/** Returns the key at this distance from a key with many accounts. */
async function keyAt(key: Key, index: number | undefined): Promise<Key> {
  if (index === undefined) return key
  if (key.at === undefined)
    throw new UnfitSignerError(
      'accounts',
      `signer "${key.id}" has a single account, so its "count" can only be 1; seed phrases (type mnemonic) have many, and other accounts need a signer each`,
    )
  return key.at(index)
}

interface Derivation {
  readonly relayer: RelayerConfig
  /** The signer of the relayer's own account. */
  readonly own: Signer
  readonly findKey: FindKey
}

async function channelSigners({ relayer, own, findKey }: Derivation): Promise<Signer[]> {
  const { networkType, signerId } = relayer
  const channels = channelsOf(relayer)
  if (typeof channels !== 'number') {
    return Promise.all(
      channels.map(async (id) => {
        const channel = await requireKey(findKey, id)
        const signer = channel[networkType]
        if (signer === undefined) throw unfitKey(channel, { signerId: id, networkType, field: 'channels' })
        return signer
      }),
    )
  }
  if (channels === 0) return []
  const derive = own.curve === 'ed25519' ? own.derive : undefined
  if (derive === undefined) throw cannotDerive(signerId)
  return Array.from({ length: channels }, (_, index) => derive(`channel/${index + 1}`))
}

async function requireKey(findKey: FindKey, signerId: string): Promise<Key> {
  const key = await findKey(signerId)
  if (key === undefined) throw new MissingSignerError(signerId)
  return key
}

/** A relayer names a signer whose key cannot sign for it. The message is a sentence without a full stop. */
export class UnfitSignerError extends Error {
  override readonly name = 'UnfitSignerError'
  /** The field of the relayer that must change. */
  readonly field: 'signer_id' | 'channels' | 'accounts'

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

/**
 * Makes the error for a key of another curve, or one whose service signs only for another network type of the
 * same curve.
 */
export function unfitKey(key: Key, { signerId, networkType, field = 'signer_id' }: Unfit): UnfitSignerError {
  const curve = FAMILIES[networkType].curve
  const fitting = typesFor(curve, networkType).join(', ')
  if (networkType === 'stellar' && key.solana !== undefined)
    return new UnfitSignerError(
      field,
      `the service of signer "${signerId}" signs only transactions and texts of Solana, and accounts of type stellar need signatures of hashes; signers of the types ${fitting} can make them`,
    )
  return new UnfitSignerError(
    field,
    `signer "${signerId}" has no ${curve} key, which accounts of type ${networkType} need; signers of the types ${fitting} can have one`,
  )
}

/** Makes the error for channel accounts of a key that cannot derive others. */
function cannotDerive(signerId: string): UnfitSignerError {
  return new UnfitSignerError(
    'channels',
    `the key of signer "${signerId}" is in another service, so no channel accounts can be derived from it; name one signer for each channel in "channels"`,
  )
}
