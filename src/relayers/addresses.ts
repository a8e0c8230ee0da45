import type { Config, RelayerConfig } from '../config.ts'
import { ConfigError } from '../configuration/problems.ts'
import { evmAddress } from '../signers/evm-address.ts'
import type { Key } from '../signers/key.ts'

/**
 * The address of each relayer, by relayer id.
 * @throws ConfigError when two relayers are the same account on the same chain: each would take the other's nonces
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
    const key = keys.get(signerId)
    if (!key) throw new Error(`Signer "${signerId}" was not loaded.`)
    const address = await addressOf(relayer, key)
    addresses.set(id, address)
    const account = `${address} on ${chainOf(relayer, networks)}`
    const owner = owners.get(account)
    if (owner !== undefined) problems.push(`relayers "${owner}" and "${id}" are the same account: ${account}`)
    else owners.set(account, id)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return addresses
}

async function addressOf({ networkType }: RelayerConfig, key: Key): Promise<string> {
  if (networkType === 'evm') return evmAddress(key.secp256k1.publicKey)
  // Loaded only where such an account exists: the library takes a third of a second.
  const { stellarAddress } = await import('../signers/stellar-address.ts')
  return stellarAddress(key.ed25519.publicKey)
}

/** What tells chains apart, whatever their networks are called here. */
function chainOf(relayer: RelayerConfig, networks: Config['networks']): string {
  const network = networks.find(({ type, name }) => type === relayer.networkType && name === relayer.network)
  return network?.type === 'stellar' ? `"${network.passphrase}"` : `chain id ${network?.chainId}`
}
