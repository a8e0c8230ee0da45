/** The place in the console that the address names. It stands behind the `#`, so no server sees it. */
export interface Route {
  /** The parts of the path, decoded: `relayers`, then the id of one. */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

/** Reads the fragment of an address. A part that cannot be decoded stays as it is. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  return {
    path: path.split('/').filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** Writes the address of a place. Empty values of the query are left out. */
export function hrefOf(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const filled = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const search = new URLSearchParams(filled).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`
}

/** Writes the address of a relayer. */
export const hrefOfRelayer = (id: string) => hrefOf(['relayers', id])

/** Writes the address of a transaction. */
export const hrefOfTransaction = (relayerId: string, id: string) => hrefOf(['transactions', relayerId, id])

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
