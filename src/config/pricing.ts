import type { Network } from '../networks/network.ts'
import type { RelayerConfig } from './types.ts'

/** Why the relayer cannot price its transactions as it wants to on its network; undefined when it can. */
export function pricingProblem(relayer: RelayerConfig, network: Network | undefined): string | undefined {
  if (relayer.networkType !== 'evm' || network?.type !== 'evm') return undefined
  if (!relayer.policies.eip1559Pricing || network.features.includes('eip1559')) return undefined
  return `relayer "${relayer.id}" wants eip1559_pricing, but network "${network.name}" does not have the feature "eip1559"`
}
