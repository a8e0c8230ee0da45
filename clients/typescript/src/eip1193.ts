import { createRelayerProvider, type RelayerProvider } from './evm/relayer-provider.ts'
import type { RelayerReference } from './relayer-reference.ts'

export { ProviderRpcError } from './evm/provider-rpc-error.ts'
export type { RelayerProvider, RequestArguments } from './evm/relayer-provider.ts'
export type { RelayerReference } from './relayer-reference.ts'

/**
 * Makes a provider of a relayer on an EVM network, for any library that takes one. What it sends is a transaction of the relayer: the service
 * numbers it, prices it and replaces it. Methods that it does not have itself go to the network of the relayer.
 *
 * The API key needs `relayers:read` and `rpc`, and for what it does `transactions:write` with `transactions:read`, or `sign`.
 */
export function createEip1193Provider(reference: RelayerReference): RelayerProvider {
  return createRelayerProvider(reference).provider
}
