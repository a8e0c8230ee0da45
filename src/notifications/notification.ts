import type { Schemas } from '../contract/operations.ts'
import { maskUrl } from '../lib/http/mask-url.ts'
import type { Secret } from '../security/secrets.ts'

/** The kind of an alert. */
export type AlertKind = Schemas['AlertKind']

/** The reason for a pause. `operator`: a caller requested it · `gone`: the receiver answered with 410. */
export type PauseReason = 'operator' | 'gone'

/**
 * The kinds of destinations. A webhook gets all events of the relayers that name it; the others get alerts,
 * of every subject, and in their own form.
 */
export const NOTIFICATION_TYPES = ['webhook', 'slack', 'pagerduty', 'opsgenie', 'email'] as const

/** The kind of a destination. */
export type NotificationType = (typeof NOTIFICATION_TYPES)[number]

/** Transactions, by their reference and the API key that requests them: any key may use any reference. */
export interface NamedTransactions {
  readonly reference: string
  readonly requestedBy: string
}

/** A destination for events. `keys.ts` manages its signing keys, and the integration key of a service. */
export interface Notification {
  readonly id: string
  readonly type: NotificationType
  /** E-mail has `mailto:` and the recipients, with commas. */
  readonly url: string
  /** The kinds of alerts that it gets; all if absent. A webhook has none. */
  readonly alerts?: readonly AlertKind[]
  /** A webhook with it gets their events, in place of the notification of their relayer. */
  readonly transactions?: NamedTransactions
  readonly hasSigningKey: boolean
  /** A caller of the API chose the url, so it may lead only to addresses that are allowed for callers. */
  readonly urlUntrusted?: true
  /** Present while the notification is paused. */
  readonly paused?: PauseReason
}

/** A notification of the configuration file. */
export interface NotificationConfig {
  readonly id: string
  readonly type: NotificationType
  readonly url: string
  readonly alerts?: readonly AlertKind[]
  readonly transactions?: NamedTransactions
  /** Signs deliveries, or is the integration key of a service. Nothing shows it. */
  readonly signingKey?: Secret
}

/** The url of a notification, and the person who chose it. */
interface WebhookUrl {
  readonly type?: NotificationType
  readonly url: string
  /** A caller of the API chose the url. */
  readonly urlUntrusted?: true
}

/**
 * Returns the part of a webhook url that answers and logs may show. Of the operator's url this is scheme and
 * host, because many services put their token into the path. A caller also sees the path of a url that a
 * caller chose, and never its user information or query. The path of a Slack webhook is its secret; addresses
 * of e-mail are none.
 */
export function maskWebhookUrl({ type, url, urlUntrusted }: WebhookUrl): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host, pathname, username, password, search, hash } = new URL(url)
  if (protocol === 'mailto:') return url
  if (!urlUntrusted || type === 'slack') return maskUrl(url)
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
