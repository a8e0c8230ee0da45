import { ConfigError } from '../../lib/fields.ts'
import { chainName, type Network } from '../../networks/network.ts'
import type { Key } from '../../signers/key.ts'
import type { RelayerConfig } from '../relayer.ts'
import type { ConfiguredRelayer } from '../relayer-codec.ts'
import { furtherAccountId, furtherConfig, furtherKeys } from './pool.ts'
import { type FindKey, sourceAccountsOf, UnfitSignerError } from './source-accounts.ts'

/** The accounts whose nonces a relayer takes. */
export interface RelayerAccounts {
  /** The identity of the chain: networks with other names can be the same chain. */
  readonly chain: string
  /** The relayer's own first, then its channels. */
  readonly addresses: readonly [string, ...string[]]
  /** Its further accounts, which are operated as relayers. If absent, it has none. */
  readonly further?: readonly ConfiguredRelayer[]
}

interface Configured {
  readonly relayers: readonly RelayerConfig[]
  readonly networks: readonly Network[]
}

/**
 * Derives the accounts of each relayer of the configuration, by relayer id.
 * @throws ConfigError if a signer cannot sign for its relayer, and when two relayers, or channels of theirs,
 * are the same account on the same chain: each would take the other's nonces
 */
export async function configuredAccounts(
  { relayers, networks }: Configured,
  keys: ReadonlyMap<string, Key>,
): Promise<Map<string, RelayerAccounts>> {
  const all = new Map<string, RelayerAccounts>()
  const problems: string[] = []
  for (const relayer of relayers) {
    const network = networks.find(
      ({ type, name }) => type === relayer.networkType && name === relayer.network,
    )
    if (network === undefined) throw new Error(`relayer ${relayer.id} is on a network that is not configured`)
    try {
      all.set(relayer.id, await accountsOf(relayer, network, async (id) => keys.get(id)))
    } catch (error) {
      if (!(error instanceof UnfitSignerError)) throw error
      problems.push(`relayer "${relayer.id}": ${error.message}`)
    }
  }
  problems.push(...duplicateAccounts([...all].flatMap(([id, accounts]) => namedAccounts(id, accounts))))
  if (problems.length > 0) throw new ConfigError(problems)
  return all
}

/**
 * Derives the accounts of a relayer on its network.
 * @throws MissingSignerError if a signer that it names does not exist
 * @throws UnfitSignerError if the key of one cannot sign for it
 */
export async function accountsOf(
  relayer: RelayerConfig,
  network: Network,
  findKey: FindKey,
): Promise<RelayerAccounts> {
  const [own, ...channels] = await sourceAccountsOf(relayer, findKey)
  const further = await Promise.all(
    furtherKeys(relayer).map(async (key): Promise<ConfiguredRelayer> => {
      const config = furtherConfig(relayer, key)
      const [{ address }] = await sourceAccountsOf(config, findKey)
      return { ...config, id: furtherAccountId(relayer.id, address), address }
    }),
  )
  return {
    chain: chainName(network),
    addresses: [own.address, ...channels.map(({ address }) => address)],
    ...(further.length > 0 && { further }),
  }
}

/** Lists all accounts of a relayer under its own id, for `duplicateAccounts`. */
export function namedAccounts(
  id: string,
  { chain, addresses, further = [] }: RelayerAccounts,
): NamedAccounts[] {
  return [{ id, chain, addresses: [...addresses, ...further.map(({ address }) => address)] }]
}

/** The accounts of one relayer, by any names that differ between accounts. */
export interface NamedAccounts {
  /** The relayer. */
  readonly id: string
  readonly chain: string
  readonly addresses: readonly string[]
}

/** Returns a problem for each account that two relayers share, and for each that one relayer has twice. */
export function duplicateAccounts(all: readonly NamedAccounts[]): string[] {
  const owners = new Map<string, string>()
  const problems: string[] = []
  for (const { id, chain, addresses } of all) {
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
