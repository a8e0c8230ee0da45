import type { NetworkType } from '../network.ts'
import type { CatalogueEntry } from './entry.ts'
import { EVM_LAYER_1 } from './evm-layer-1.ts'
import { EVM_ROLLUPS } from './evm-rollups.ts'
import { SOLANA_CATALOGUE } from './solana.ts'
import { STELLAR_CATALOGUE } from './stellar.ts'

/**
 * EVM: the names are those of OpenZeppelin Relayer's files, so that a relayer that refers to one keeps its network. The numbers are from
 * the chains' own documentation, and from viem's definitions, which a test compares.
 */
const ENTRIES: Readonly<Record<NetworkType, readonly CatalogueEntry[]>> = {
  evm: [...EVM_LAYER_1, ...EVM_ROLLUPS],
  stellar: STELLAR_CATALOGUE,
  solana: SOLANA_CATALOGUE,
}

/**
 * Networks that need no description: a relayer can name them, and a network of the file can complete them by `from`.
 * Public endpoints are for trials: they promise nothing, and they limit each caller.
 */
export const CATALOGUE: readonly CatalogueEntry[] = Object.values(ENTRIES).flat()
