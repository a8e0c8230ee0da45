import { assertNever } from '../lib/assert-never.ts'
import type { Network } from './network.ts'

/** Returns the identity of a chain for people. Networks with other names can be the same chain. */
export function chainName(network: Network): string {
  switch (network.type) {
    case 'evm':
      return evmChainName(network.chainId)
    case 'stellar':
      return `"${network.passphrase}"`
    case 'solana':
      // Without a genesis hash, the name alone identifies the cluster.
      return `cluster ${network.genesisHash ?? network.name}`
    default:
      return assertNever(network)
  }
}

/** Returns the identity of an EVM chain. */
export function evmChainName(chainId: number | bigint): string {
  return `chain id ${chainId}`
}
