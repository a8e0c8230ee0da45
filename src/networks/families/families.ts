import type { NetworkType } from '../network.ts'
import { EVM_NETWORKS } from './evm.ts'
import type { NetworkFamily } from './family.ts'
import { SOLANA_NETWORKS } from './solana.ts'
import { STELLAR_NETWORKS } from './stellar.ts'

/** Has a row for each type of networks: what configuration files and people say of it. */
export const NETWORK_FAMILIES: { readonly [T in NetworkType]: NetworkFamily<T> } = {
  evm: EVM_NETWORKS,
  stellar: STELLAR_NETWORKS,
  solana: SOLANA_NETWORKS,
}
