import type { Config, RelayerConfig } from '../config.ts'
import { ConfigError } from '../configuration/problems.ts'
import { chainName } from '../networks/chain-name.ts'
import { evmAddress } from '../signers/evm-address.ts'
import type { Key } from '../signers/key.ts'

/**
 * The address of each relayer, by relayer id.
 * @throws ConfigError when two relayers, or channels of theirs, are the same account on the same chain: each would take the
 * other's nonces
 */
export async function relayerAddresses(
  { relayers, networks }: Pick<Config, 'relayers' | 'networks'>,
  keys: ReadonlyMap<string, Key>,
): Promise<Map<string, string>> {
  const addresses = new Map<string, string>()
  const owners = new Map<string, string>()
  const problems: string[] = []
  for (const relayer of relayers) {
    const { id, signerId } = relayer
    addresses.set(id, await addressOf(relayer, demand(keys, signerId)))
    for (const signer of [signerId, ...channelSigners(relayer)]) {
      const account = `${await addressOf(relayer, demand(keys, signer))} on ${chainOf(relayer, networks)}`
      const owner = owners.get(account)
      if (owner === undefined) owners.set(account, id)
      else if (owner === id) problems.push(`relayer "${id}" has the same account more than once: ${account}`)
      else problems.push(`relayers "${owner}" and "${id}" are the same account: ${account}`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return addresses
}

function demand(keys: ReadonlyMap<string, Key>, signerId: string): Key {
  const key = keys.get(signerId)
  if (!key) throw new Error(`Signer "${signerId}" was not loaded.`)
  return key
}

/** Signers of accounts that lend their numbers. Derived ones are nobody else's. */
function channelSigners(relayer: RelayerConfig): readonly string[] {
  return relayer.networkType === 'stellar' && typeof relayer.channels === 'object' ? relayer.channels : []
}

async function addressOf({ networkType }: RelayerConfig, key: Key): Promise<string> {
  if (networkType === 'evm') return evmAddress(key.secp256k1.publicKey)
  // Loaded only where such an account exists: the libraries take a tenth and a third of a second.
  if (networkType === 'solana') {
    const { solanaAddress } = await import('../signers/solana-address.ts')
    return solanaAddress(key.ed25519.publicKey)
  }
  const { stellarAddress } = await import('../signers/stellar-address.ts')
  return stellarAddress(key.ed25519.publicKey)
}

function chainOf(relayer: RelayerConfig, networks: Config['networks']): string {
  const network = networks.find(({ type, name }) => type === relayer.networkType && name === relayer.network)
  if (network === undefined) throw new Error(`relayer ${relayer.id} is on a network that is not configured`)
  return chainName(network)
}
