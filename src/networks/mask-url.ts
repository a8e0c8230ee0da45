/**
 * Returns the part of an RPC url that answers may show: scheme and host. Providers put their API keys into the rest (path,
 * query, credentials). A text that is not a url is hidden as a whole.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}/***`
}

/** Returns the part of a url that the log may show: scheme and host, with `/***` only where the rest hides something. */
export function maskUrlInLog(url: string): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host, pathname, search, hash, username, password } = new URL(url)
  const hidden = [pathname.slice(1), search, hash, username, password].some((part) => part !== '')
  return hidden ? maskUrl(url) : `${protocol}//${host}`
}

/** Recognises a url that `maskUrl` made: a caller who sends an answer back would otherwise lose the rest of the url. */
export function isMasked(url: string): boolean {
  return url.endsWith('/***') || url === '***'
}
