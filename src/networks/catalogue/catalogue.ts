import { suggest } from '../../lib/suggest.ts'
import { NETWORK_FAMILIES } from '../families/families.ts'
import type { NetworkType } from '../network.ts'
import type { CatalogueEntry } from './entry.ts'

/**
 * Networks that need no description: a relayer can name them, and a network of the file can complete them by
 * `from`. Public endpoints are for trials: they promise nothing, and they limit each caller.
 */
export const CATALOGUE: readonly CatalogueEntry[] = Object.values(NETWORK_FAMILIES).flatMap(
  ({ catalogue }) => catalogue,
)

/** A name that no network has. */
interface UnknownNetwork {
  readonly name: string
  readonly type: NetworkType
  /** The names of all networks of this type. */
  readonly known: readonly string[]
}

/**
 * Returns ` (did you mean "x"?)` for a network by another name or with typing errors, and otherwise all names
 * that would do.
 */
export function suggestNetwork({ name, type, known }: UnknownNetwork): string {
  const names = NETWORK_FAMILIES[type].otherNames
  const lower = name.toLowerCase()
  const meant = Object.hasOwn(names, lower) ? names[lower] : undefined
  if (meant !== undefined && known.includes(meant)) return ` (did you mean "${meant}"?)`
  return suggest(name, known) || `; known are ${known.join(', ')}`
}
