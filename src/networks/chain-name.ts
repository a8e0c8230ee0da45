import type { Network } from './network.ts'

/** What tells chains apart, whatever their networks are called here; for messages, too. */
export function chainName(network: Network): string {
  switch (network.type) {
    case 'evm':
      return `chain id ${network.chainId}`
    case 'stellar':
      return `"${network.passphrase}"`
    case 'solana':
      // Without a hash, only the name says which cluster it is.
      return `cluster ${network.genesisHash ?? network.name}`
  }
}
