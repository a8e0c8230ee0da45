/**
 * An RPC url as it may be shown: scheme and host. The rest (path, query, credentials) is where providers put their API
 * keys. A text that is no url is hidden whole.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}/***`
}
