import type { SourceAccount } from '../chains/chain.ts'
import type { NetworkType } from '../networks/network.ts'
import { evmAddress } from '../signers/evm-address.ts'
import type { Key } from '../signers/key.ts'
import type { Ed25519Signer } from '../signers/signer.ts'
import { channelsOf } from './channels.ts'
import type { RelayerConfig } from './relayer.ts'

/** The relayer's own account first, then its channels. */
export type SourceAccounts = readonly [SourceAccount, ...SourceAccount[]]

/** Finds the key of a signer; undefined when the signer does not exist. */
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
 * @throws MissingSignerError when a signer that it names does not exist
 */
export async function sourceAccountsOf(relayer: RelayerConfig, findKey: FindKey): Promise<SourceAccounts> {
  const key = await requireKey(findKey, relayer.signerId)
  return DERIVATIONS[relayer.networkType]({ relayer, key, findKey })
}

interface Derivation {
  readonly relayer: RelayerConfig
  /** The relayer's own key. */
  readonly key: Key
  readonly findKey: FindKey
}

/** The libraries of Solana and Stellar take a tenth and a third of a second to load, so only their relayers load them. */
const DERIVATIONS: Readonly<Record<NetworkType, (derivation: Derivation) => Promise<SourceAccounts>>> = {
  evm: async ({ key: { secp256k1 } }) => [{ address: evmAddress(secp256k1.publicKey), signer: secp256k1 }],
  solana: async (derivation) =>
    ed25519Accounts(derivation, (await import('../signers/solana-key.ts')).solanaAddress),
  stellar: async (derivation) =>
    ed25519Accounts(derivation, (await import('../signers/stellar-key.ts')).stellarAddress),
}

async function ed25519Accounts(
  derivation: Derivation,
  addressOf: (publicKey: Uint8Array) => string,
): Promise<SourceAccounts> {
  const accountOf = (signer: Ed25519Signer) => ({ address: addressOf(signer.publicKey), signer })
  const channels = await channelSigners(derivation)
  return [accountOf(derivation.key.ed25519), ...channels.map(accountOf)]
}

async function channelSigners({ relayer, key, findKey }: Derivation): Promise<Ed25519Signer[]> {
  const channels = channelsOf(relayer)
  if (typeof channels === 'number') {
    return Array.from({ length: channels }, (_, index) => key.ed25519.derive(`channel/${index + 1}`))
  }
  return Promise.all(channels.map(async (id) => (await requireKey(findKey, id)).ed25519))
}

async function requireKey(findKey: FindKey, signerId: string): Promise<Key> {
  const key = await findKey(signerId)
  if (key === undefined) throw new MissingSignerError(signerId)
  return key
}
