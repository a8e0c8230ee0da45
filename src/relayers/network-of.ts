import { networkId } from '../networks/network.ts'
import type { RelayerConfig } from './relayer.ts'

/** Returns the id of the network that a relayer is on. */
export function networkOf({
  networkType: type,
  network: name,
}: Pick<RelayerConfig, 'networkType' | 'network'>): string {
  return networkId({ type, name })
}
