/** The paths of the metrics without the prefix of the contract: Prometheus and clients of OpenZeppelin Relayer ask for these. */
const BARE = /^\/(?:metrics(?:\/|$)|debug\/metrics\/scrape(?:\/|$))/

const PREFIX = '/api/v1'

/** Returns the path as the contract has it: that of the metrics with the prefix, and any other path unchanged. */
export function contractPath(path: string): string {
  return BARE.test(path) ? `${PREFIX}${path}` : path
}

/** A page of metrics: all of them, or their names when the caller prefers those; all as text; or one. */
export type MetricsPage = { readonly kind: 'all' | 'text' } | { readonly kind: 'one'; readonly name: string }

/** Reads the path of a page; undefined for any other path. */
export function readMetricsPath(path: string): MetricsPage | undefined {
  const wanted = contractPath(path)
  if (wanted === `${PREFIX}/metrics`) return { kind: 'all' }
  if (wanted === `${PREFIX}/debug/metrics/scrape`) return { kind: 'text' }
  const [, name] = /^\/api\/v1\/metrics\/([a-zA-Z_:][a-zA-Z0-9_:]*)$/.exec(wanted) ?? []
  return name === undefined ? undefined : { kind: 'one', name }
}
