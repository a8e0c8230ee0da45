import type { SourceAccount } from '../chains/chain.ts'
import type { RelayerConfig } from '../config/load.ts'
import { evmAddress } from '../signers/evm-address.ts'
import type { Key } from '../signers/key.ts'
import type { Ed25519Signer } from '../signers/signer.ts'
import type { Relayer } from './relayer.ts'

/** The relayer's own account first, then its channels. */
export type SourceAccounts = readonly [SourceAccount, ...SourceAccount[]]

/** Undefined when there is no signer of this id. */
export type FindKey = (signerId: string) => Promise<Key | undefined>

/**
 * The accounts whose nonces a relayer takes.
 * @throws MissingSignerError when a signer that it names does not exist
 */
export async function sourceAccountsOf(
  relayer: RelayerConfig | Relayer,
  findKey: FindKey,
): Promise<SourceAccounts> {
  const key = await requireKey(findKey, relayer.signerId)
  if (relayer.networkType === 'evm') {
    return [{ address: evmAddress(key.secp256k1.publicKey), signer: key.secp256k1 }]
  }
  const addressOf = await addressesOn(relayer.networkType)
  const channels = await channelSigners(relayer, key.ed25519, findKey)
  return [
    { address: addressOf(key.ed25519.publicKey), signer: key.ed25519 },
    ...channels.map((signer) => ({ address: addressOf(signer.publicKey), signer })),
  ]
}

/** A relayer names a signer that does not exist. */
export class MissingSignerError extends Error {
  override readonly name = 'MissingSignerError'
  readonly signerId: string

  constructor(signerId: string) {
    super(`there is no signer "${signerId}"`)
    this.signerId = signerId
  }
}

async function requireKey(findKey: FindKey, signerId: string): Promise<Key> {
  const key = await findKey(signerId)
  if (key === undefined) throw new MissingSignerError(signerId)
  return key
}

async function channelSigners(
  relayer: RelayerConfig | Relayer,
  own: Ed25519Signer,
  findKey: FindKey,
): Promise<Ed25519Signer[]> {
  const channels = relayer.networkType === 'stellar' ? (relayer.channels ?? 0) : 0
  if (typeof channels === 'number') {
    return Array.from({ length: channels }, (_, index) => own.derive(`channel/${index + 1}`))
  }
  return Promise.all(channels.map(async (id) => (await requireKey(findKey, id)).ed25519))
}

/** Loaded only where such an account exists: the libraries take a tenth and a third of a second. */
async function addressesOn(type: 'solana' | 'stellar'): Promise<(publicKey: Uint8Array) => string> {
  if (type === 'solana') return (await import('../signers/solana-address.ts')).solanaAddress
  return (await import('../signers/stellar-address.ts')).stellarAddress
}
