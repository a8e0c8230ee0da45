/**
 * Returns the part of an RPC url that answers and logs may show: scheme and host. Providers put their API keys into the rest (path,
 * query, credentials). A text that is not a url is hidden as a whole.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}/***`
}

/** Recognises a url that `maskUrl` made: a caller who sends an answer back would otherwise lose the rest of the url. */
export function isMasked(url: string): boolean {
  return url.endsWith('/***') || url === '***'
}
