/** Reads the search list of a resolver configuration (resolv.conf(5)). The last `search` or `domain` line counts. */
export function parseSearchDomains(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/))
  const last = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain')
  return (last ?? [])
    .slice(1)
    .map((domain) => domain.replace(/\.$/, ''))
    .filter((domain) => domain !== '')
}

/**
 * Returns the full names that a host can mean, in the order of the questions. Clusters and company networks reach their services by short
 * names. A name with a dot is asked as it is first, because most are names of the internet.
 */
export function fullNames(host: string, searchDomains: readonly string[]): readonly string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)]
  const searched = searchDomains.map((domain) => `${host}.${domain}`)
  return host.includes('.') ? [host, ...searched] : [...searched, host]
}
