import type { CatalogueEntry } from './catalogue/entry.ts'
import { EVM_CATALOGUE } from './catalogue/evm.ts'
import { SOLANA_CATALOGUE } from './catalogue/solana.ts'
import { STELLAR_CATALOGUE } from './catalogue/stellar.ts'

/**
 * Networks that need not be described: a relayer may name them, and a network of the file may complete them by `from`.
 * Public endpoints are for trying things out: they promise nothing, and limit what one caller may ask.
 */
export const CATALOGUE: readonly CatalogueEntry[] = [
  ...EVM_CATALOGUE,
  ...STELLAR_CATALOGUE,
  ...SOLANA_CATALOGUE,
]
