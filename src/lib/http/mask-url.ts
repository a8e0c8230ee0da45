/**
 * Returns the part of a url that answers and logs may show: scheme and host, with `/***` where the rest hides
 * something. Providers put their API keys into path, query and credentials. A text that is not a url is hidden
 * as a whole.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host, pathname, search, hash, username, password } = new URL(url)
  const hidden = [pathname.replace(/^\/$/, ''), search, hash, username, password].some((part) => part !== '')
  return `${protocol}//${host}${hidden ? '/***' : ''}`
}

/**
 * Recognises a URL masked by `maskUrl`: a caller who sends a response back would otherwise lose the rest of
 * the URL.
 */
export function isMasked(url: string): boolean {
  return url.endsWith('/***') || url === '***'
}
