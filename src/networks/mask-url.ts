/**
 * An RPC url as it may be shown: scheme and host. The rest (path, query, credentials) is where providers put their API
 * keys. A text that is no url is hidden whole.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}/***`
}

/** True for what `maskUrl` gives: a caller who sends back what was shown would lose the rest of the url. */
export function isMasked(url: string): boolean {
  return url.endsWith('/***') || url === '***'
}
