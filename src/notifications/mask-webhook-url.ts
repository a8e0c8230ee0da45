/** A webhook url, and the person who chose it. */
export interface WebhookUrl {
  readonly url: string
  /** A caller of the API chose the url. */
  readonly urlUntrusted?: true
}

/**
 * Returns the part of a webhook url that answers and logs may show. Of the operator's url this is scheme and host, because many services
 * put their token into the path. A caller also sees the path of a url that a caller chose, and never its user information or query.
 */
export function maskWebhookUrl({ url, urlUntrusted }: WebhookUrl): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host, pathname, username, password, search, hash } = new URL(url)
  if (!urlUntrusted) return `${protocol}//${host}/***`
  const userInfo = username !== '' || password !== ''
  if (!userInfo && search === '' && hash === '') return url
  return [
    `${protocol}//`,
    userInfo ? '***@' : '',
    host,
    pathname,
    search === '' ? '' : '?***',
    hash === '' ? '' : '#***',
  ].join('')
}

/** Recognises a url that `maskWebhookUrl` made: a caller who sends an answer back would otherwise lose the rest of the url. */
export function isMaskedWebhookUrl(url: string): boolean {
  return /^\*\*\*$|\/\*\*\*$|\/\/\*\*\*@|[?#]\*\*\*(?:#|$)/.test(url)
}
