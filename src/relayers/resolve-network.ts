import { suggest } from '../config/fields/suggest.ts'
import type { RelayerConfig } from '../config/load.ts'
import { pricingProblem } from '../config/pricing.ts'
import { AppError } from '../errors.ts'
import type { NetworkDirectory } from '../networks/directory.ts'
import type { Network } from '../networks/network.ts'

/**
 * The network that the relayer is to be on.
 * @throws AppError 400 when there is none of this name, when nobody could be asked there, or the relayer could not price there as it wants to
 */
export function resolveNetwork(networks: NetworkDirectory, relayer: RelayerConfig): Network {
  const { network: name, networkType, customRpcUrls } = relayer
  const network = networks.find(networkType, name)
  if (network === undefined) {
    const names = networks.list().flatMap((one) => (one.type === networkType ? [one.name] : []))
    throw new AppError(
      'unknown_network',
      `network: there is no network "${name}" of type ${networkType}${suggest(name, names)}.`,
    )
  }
  if (network.rpcUrls.length === 0 && customRpcUrls === undefined)
    throw new AppError(
      'invalid_request',
      `custom_rpc_urls: network "${name}" has no endpoints of its own; give some.`,
    )
  const problem = pricingProblem(relayer, network)
  if (problem !== undefined) throw new AppError('invalid_request', `policies.eip1559_pricing: ${problem}.`)
  return network
}
