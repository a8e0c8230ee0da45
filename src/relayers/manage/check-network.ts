import { AppError } from '../../errors.ts'
import { suggestNetwork } from '../../networks/catalogue/suggest-network.ts'
import type { NetworkDirectory } from '../../networks/directory.ts'
import type { Network, RpcUrl } from '../../networks/network.ts'
import { silentEndpoints } from '../../networks/silent-endpoints.ts'
import { untrustedRpcUrlProblem } from '../../networks/untrusted-rpc-url.ts'
import { limitProblem, pricingProblem, privacyProblem } from '../policy.ts'
import type { RelayerConfig } from '../relayer.ts'
import type { ManageContext } from './context.ts'

/**
 * Finds the network that the relayer names.
 * @throws AppError 400 when no network has this name, when it has no endpoint, or when its prices cannot be what the relayer wants
 */
export function resolveNetwork(networks: NetworkDirectory, relayer: RelayerConfig): Network {
  const { network: name, networkType, customRpcUrls } = relayer
  const network = networks.find(networkType, name)
  if (network === undefined) {
    const names = networks.list().flatMap((one) => (one.type === networkType ? [one.name] : []))
    throw new AppError(
      'unknown_network',
      `network: there is no network "${name}" of type ${networkType}${suggestNetwork({ name, type: networkType, known: names })}.`,
    )
  }
  if (network.rpcUrls.length === 0 && customRpcUrls === undefined)
    throw new AppError(
      'invalid_request',
      `custom_rpc_urls: network "${name}" has no endpoints of its own; give some.`,
    )
  const elsewhere = limitProblem(relayer)
  if (elsewhere !== undefined) throw new AppError('invalid_request', `policies.rules: ${elsewhere}.`)
  const problem = pricingProblem(relayer, network)
  if (problem !== undefined) throw new AppError('invalid_request', `policies.eip1559_pricing: ${problem}.`)
  return network
}

/**
 * Refuses a relayer that keeps its transactions private where the network has no private endpoint.
 * @throws AppError 400
 */
export function requirePrivateEndpoints(network: Network, relayer: RelayerConfig): void {
  const problem = privacyProblem(relayer, network)
  if (problem !== undefined)
    throw new AppError('invalid_request', `policies.private_transactions: ${problem}.`)
}

/**
 * Checks RPC urls that a caller chose for a relayer on this network. Returns sentences for the caller.
 * @throws AppError 400 when a url is forbidden or serves another chain. Silence is no reason to refuse (I6).
 */
export async function checkUntrustedEndpoints(
  { verify, allowPrivateUrls }: Pick<ManageContext, 'verify' | 'allowPrivateUrls'>,
  network: Network,
  rpcUrls: readonly RpcUrl[],
): Promise<string[]> {
  for (const [index, { url }] of rpcUrls.entries()) {
    const problem = untrustedRpcUrlProblem(url, { allowPrivate: allowPrivateUrls })
    if (problem !== undefined)
      throw new AppError('invalid_request', `custom_rpc_urls[${index}].url: ${problem}.`)
  }
  const answer = await verify({ ...network, rpcUrls })
  if (answer.kind === 'refused')
    throw new AppError('wrong_chain', `custom_rpc_urls: ${answer.refusal.detail}`)
  if (answer.kind === 'ok') return []
  return [silentEndpoints('custom_rpc_urls', rpcUrls)]
}
