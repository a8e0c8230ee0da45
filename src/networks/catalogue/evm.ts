import type { CatalogueEntry } from './entry.ts'
import { EVM_LAYER_1 } from './evm-layer-1.ts'
import { EVM_ROLLUPS } from './evm-rollups.ts'

/**
 * Names are those of OpenZeppelin Relayer's files, so that a relayer that refers to one keeps its network. Sources of the numbers:
 * the chains' own documentation, and viem's definitions, which a test compares.
 */
export const EVM_CATALOGUE: readonly CatalogueEntry[] = [...EVM_LAYER_1, ...EVM_ROLLUPS]
