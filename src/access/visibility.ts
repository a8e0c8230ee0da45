/** The part of the deployment that a key sees. An absent field stands for everything. */
export interface Visibility {
  /** Ids of relayers. A `*` at the end stands for any ending. */
  readonly relayers?: readonly string[] | undefined
  /** Networks by type and name, e.g. `evm:sepolia`. */
  readonly networks?: readonly string[] | undefined
}

/** The visibility of keys without a limit. */
export const EVERYTHING: Visibility = Object.freeze({})

/** Returns true when nothing is hidden. */
export function seesEverything({ relayers, networks }: Visibility): boolean {
  return relayers === undefined && networks === undefined
}

/** Returns true when the id of a relayer fits. Its network is another question. */
export function seesRelayerId({ relayers }: Visibility, id: string): boolean {
  return relayers === undefined || relayers.some((pattern) => covers(pattern, id))
}

/** Returns true when a network, by type and name, fits. */
export function seesNetwork({ networks }: Visibility, networkId: string): boolean {
  return networks === undefined || networks.includes(networkId)
}

/** Returns true when `inner` shows nothing that `outer` hides. */
export function isWithin(inner: Visibility, outer: Visibility): boolean {
  return (
    isPart(inner.relayers, outer.relayers, covers) &&
    isPart(inner.networks, outer.networks, (known, wanted) => known === wanted)
  )
}

function isPart(
  inner: readonly string[] | undefined,
  outer: readonly string[] | undefined,
  fits: (known: string, wanted: string) => boolean,
): boolean {
  if (outer === undefined) return true
  return inner?.every((wanted) => outer.some((known) => fits(known, wanted))) ?? false
}

/** Returns true when a pattern fits an id, or every id that another pattern fits. */
function covers(pattern: string, wanted: string): boolean {
  return pattern.endsWith('*') ? wanted.startsWith(pattern.slice(0, -1)) : wanted === pattern
}
