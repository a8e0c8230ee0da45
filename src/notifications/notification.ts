import type { Secret } from '../security/secrets.ts'

/** The reason for a pause. `operator`: a caller requested it · `gone`: the receiver answered with 410. */
export type PauseReason = 'operator' | 'gone'

/** A destination for events. `keys.ts` manages its signing keys. */
export interface Notification {
  readonly id: string
  readonly type: 'webhook'
  readonly url: string
  readonly hasSigningKey: boolean
  /** A caller of the API chose the url, so it may lead only to addresses that are allowed for callers. */
  readonly urlUntrusted?: true
  /** Present while the notification is paused. */
  readonly paused?: PauseReason
}

/** A notification of the configuration file. */
export interface NotificationConfig {
  readonly id: string
  readonly type: 'webhook'
  readonly url: string
  /** Signs deliveries. The service neither stores nor shows it. */
  readonly signingKey?: Secret
}

/** A webhook url, and the person who chose it. */
interface WebhookUrl {
  readonly url: string
  /** A caller of the API chose the url. */
  readonly urlUntrusted?: true
}

/**
 * Returns the part of a webhook url that answers and logs may show. Of the operator's url this is scheme and
 * host, because many services put their token into the path. A caller also sees the path of a url that a
 * caller chose, and never its user information or query.
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

/**
 * Recognises a URL masked by `maskWebhookUrl`: a caller who sends a response back would otherwise lose the
 * rest of the URL.
 */
export function isMaskedWebhookUrl(url: string): boolean {
  return /^\*\*\*$|\/\*\*\*$|\/\/\*\*\*@|[?#]\*\*\*(?:#|$)/.test(url)
}
