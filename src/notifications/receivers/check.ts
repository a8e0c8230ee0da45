import { type AddressPolicy, untrustedUrlProblem } from '../../security/guarded-http-client.ts'
import { isMaskedWebhookUrl, type NotificationType } from '../notification.ts'
import { domainOf, type MailSettings, recipientsOf } from './mail.ts'

/** The services that have one address for all customers, which their notifications have by default. */
export const DEFAULT_URLS: Readonly<Partial<Record<NotificationType, string>>> = {
  pagerduty: 'https://events.pagerduty.com',
  opsgenie: 'https://api.opsgenie.com',
}

/** Returns true for a type that authenticates with an integration key. */
export function hasIntegrationKey(type: NotificationType): boolean {
  return DEFAULT_URLS[type] !== undefined
}

/** The fields of a notification that a caller, or the file, names. */
export interface Wanted {
  readonly type: NotificationType
  readonly url?: string | undefined
  readonly signingKey?: string | null | undefined
  readonly integrationKey?: string | undefined
  readonly alerts?: readonly string[] | null | undefined
  readonly transactions?: object | null | undefined
}

/** A field that does not fit, and what was expected. */
export interface FieldProblem {
  readonly field: string
  readonly expected: string
}

/** Finds a field that the type of the notification does not have. Pure. */
export function unfitField({
  type,
  signingKey,
  integrationKey,
  alerts,
  transactions,
}: Wanted): FieldProblem | undefined {
  if (signingKey != null && type !== 'webhook')
    return { field: 'signing_key', expected: `none: a notification of type ${type} signs nothing` }
  if (integrationKey !== undefined && !hasIntegrationKey(type))
    return { field: 'integration_key', expected: `none: a notification of type ${type} has none` }
  if (alerts != null && type === 'webhook')
    return { field: 'alerts', expected: 'none: a webhook gets all events of the relayers that name it' }
  if (transactions != null && type !== 'webhook')
    return { field: 'transactions', expected: `none: a notification of type ${type} gets only alerts` }
  return undefined
}

/** The destinations that a deployment lets callers of the API choose. */
export interface ReachPolicy extends AddressPolicy {
  /** Undefined if the deployment sends no mails. */
  readonly mail: MailSettings | undefined
}

/** Finds the problem of a url that a caller chose; undefined if there is none. Pure. */
export function urlProblem(type: NotificationType, url: string, policy: ReachPolicy): string | undefined {
  if (type === 'email') return recipientsProblem(url, policy.mail)
  if (isMaskedWebhookUrl(url))
    return 'expected the full URL, not a masked one from a response; or omit the field'
  return untrustedUrlProblem(url, policy)
}

/** The form of the url of a notification by e-mail. */
export const MAILTO = 'mailto: and 1 to 20 addresses with commas between them, such as mailto:ops@example.com'

/**
 * A key that may create notifications could otherwise send mails, by tests, to anyone in the name of the
 * operator.
 */
function recipientsProblem(url: string, mail: MailSettings | undefined): string | undefined {
  const recipients = recipientsOf(url)
  if (recipients === undefined) return `expected ${MAILTO}`
  if (mail === undefined)
    return 'expected a webhook: this deployment has no RELAYER_SMTP_URL, so it sends no mails'
  const outside = recipients.find((address) => !mail.recipientDomains.includes(domainOf(address)))
  if (outside === undefined) return undefined
  return `expected addresses of ${mail.recipientDomains.join(', ')}; RELAYER_SMTP_RECIPIENT_DOMAINS would allow ${outside}`
}
