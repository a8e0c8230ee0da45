import type { SourceAccount } from '../../chains/chain.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { NetworkType } from '../../networks/network.ts'
import type { Key } from '../../signers/key.ts'
import { typesFor } from '../../signers/providers/registry.ts'
import { evmAddress } from '../../signers/secp256k1.ts'
import type { Ed25519Signer } from '../../signers/signer.ts'
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
  const key = await keyAt(await requireKey(findKey, relayer.signerId), relayer.accountIndex)
  return DERIVATIONS[relayer.networkType]({ relayer, key, findKey })
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
  /** The relayer's own key. */
  readonly key: Key
  readonly findKey: FindKey
}

/**
 * The libraries of Solana and Stellar take a tenth and a third of a second to load, so only their relayers
 * load them.
 */
const DERIVATIONS: Readonly<Record<NetworkType, (derivation: Derivation) => Promise<SourceAccounts>>> = {
  evm: async ({ relayer, key }) => {
    if (key.evm === undefined) throw unfitKey(key, relayer)
    return [{ address: evmAddress(key.evm.publicKey), signer: key.evm }]
  },
  solana: async (derivation) =>
    ed25519Accounts({
      ...derivation,
      addressOf: (await import('../../signers/ed25519.ts')).solanaAddress,
      ownOf: (key) => key.solana,
    }),
  stellar: async (derivation) =>
    ed25519Accounts({
      ...derivation,
      addressOf: (await import('../../signers/ed25519.ts')).stellarAddress,
      ownOf: (key) => key.stellar,
    }),
}

interface Ed25519Derivation extends Derivation {
  readonly addressOf: (publicKey: Uint8Array) => string
  /** Selects the part of a key that the network type uses. */
  readonly ownOf: (key: Key) => Ed25519Signer | undefined
}

async function ed25519Accounts(derivation: Ed25519Derivation): Promise<SourceAccounts> {
  const { relayer, key, addressOf, ownOf } = derivation
  const own = ownOf(key)
  if (own === undefined) throw unfitKey(key, relayer)
  const accountOf = (signer: Ed25519Signer) => ({ address: addressOf(signer.publicKey), signer })
  const channels = await channelSigners(derivation, own)
  return [accountOf(own), ...channels.map(accountOf)]
}

async function channelSigners(
  { relayer, findKey, ownOf }: Ed25519Derivation,
  own: Ed25519Signer,
): Promise<Ed25519Signer[]> {
  const channels = channelsOf(relayer)
  if (typeof channels !== 'number') {
    return Promise.all(
      channels.map(async (id) => {
        const channel = await requireKey(findKey, id)
        const signer = ownOf(channel)
        if (signer === undefined)
          throw unfitKey(channel, { signerId: id, networkType: relayer.networkType, field: 'channels' })
        return signer
      }),
    )
  }
  if (channels === 0) return []
  const { derive } = own
  if (derive === undefined) throw cannotDerive(relayer.signerId)
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
