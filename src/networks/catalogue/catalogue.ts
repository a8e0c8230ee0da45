import type { CatalogueEntry } from './entry.ts'
import { EVM_CATALOGUE } from './evm.ts'
import { SOLANA_CATALOGUE } from './solana.ts'
import { STELLAR_CATALOGUE } from './stellar.ts'

/**
 * Networks that need not be described: a relayer may name them, and a network of the file may complete them by `from`.
 * Public endpoints are for trying things out: they promise nothing, and limit what one caller may ask.
 */
export const CATALOGUE: readonly CatalogueEntry[] = [
  ...EVM_CATALOGUE,
  ...STELLAR_CATALOGUE,
  ...SOLANA_CATALOGUE,
]
