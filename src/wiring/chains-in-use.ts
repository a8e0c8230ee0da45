import type { Chain } from '../chains/chain.ts'
import type { RelayerRegistry } from './relayer-registry.ts'

/** Returns a chain of every group of endpoints that relayers use, by the name of the group. */
export function chainsInUse(registry: RelayerRegistry): Map<string, Chain> {
  return new Map([...registry.endpointGroups()].map(([name, { runtime }]) => [name, runtime.chain]))
}

/** Returns the same chains with the names of their networks. */
export function networksInUse(registry: RelayerRegistry): { network: string; chain: Chain }[] {
  return [...registry.endpointGroups().values()].map(({ runtime: { network, chain } }) => ({
    network: network.name,
    chain,
  }))
}
