import type { Config, RelayerConfig } from '../config/load.ts'
import { ConfigError } from '../config/problems.ts'
import { chainName } from '../networks/chain-name.ts'
import type { Network } from '../networks/network.ts'
import type { Key } from '../signers/key.ts'
import { type FindKey, sourceAccountsOf } from './source-accounts.ts'

/** Which accounts a relayer takes nonces of. */
export interface RelayerAccounts {
  /** What tells the chain apart from others, whatever it is called here. */
  readonly chain: string
  /** The relayer's own first, then its channels. */
  readonly addresses: readonly [string, ...string[]]
}

/**
 * The accounts of each relayer of the configuration, by relayer id.
 * @throws ConfigError when two relayers, or channels of theirs, are the same account on the same chain: each would take the
 * other's nonces
 */
export async function configuredAccounts(
  { relayers, networks }: Pick<Config, 'relayers' | 'networks'>,
  keys: ReadonlyMap<string, Key>,
): Promise<Map<string, RelayerAccounts>> {
  const all = new Map<string, RelayerAccounts>()
  for (const relayer of relayers) {
    const network = networks.find(
      ({ type, name }) => type === relayer.networkType && name === relayer.network,
    )
    if (network === undefined) throw new Error(`relayer ${relayer.id} is on a network that is not configured`)
    all.set(relayer.id, await accountsOf(relayer, network, async (id) => keys.get(id)))
  }
  const problems = duplicateAccounts(all)
  if (problems.length > 0) throw new ConfigError(problems)
  return all
}

/**
 * The accounts of a relayer on its network.
 * @throws MissingSignerError when a signer that it names does not exist
 */
export async function accountsOf(
  relayer: RelayerConfig,
  network: Network,
  findKey: FindKey,
): Promise<RelayerAccounts> {
  const [own, ...channels] = await sourceAccountsOf(relayer, findKey)
  return {
    chain: chainName(network),
    addresses: [own.address, ...channels.map(({ address }) => address)],
  }
}

/** What is wrong where relayers, by id, have an account in common, or one has it twice. */
export function duplicateAccounts(all: ReadonlyMap<string, RelayerAccounts>): string[] {
  const owners = new Map<string, string>()
  const problems: string[] = []
  for (const [id, { chain, addresses }] of all) {
    for (const address of addresses) {
      const account = `${address} on ${chain}`
      const owner = owners.get(account)
      if (owner === undefined) owners.set(account, id)
      else if (owner === id) problems.push(`relayer "${id}" has the same account more than once: ${account}`)
      else problems.push(`relayers "${owner}" and "${id}" are the same account: ${account}`)
    }
  }
  return problems
}
