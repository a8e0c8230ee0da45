import type { Schemas } from '../../contract/operations.ts'
import type { AlertKind } from '../notification.ts'

/** An alert as webhooks have it. */
type AlertNotice = Schemas['AlertPayload']

/** The urgency of an announcement, in the words of PagerDuty. */
export type Severity = 'critical' | 'error' | 'warning' | 'info'

/** An alert, or a test, for a person. */
export interface Announcement {
  /** The same for the beginning and the end of an alert. Letters, digits and hyphens. */
  readonly key: string
  readonly state: 'firing' | 'resolved'
  readonly severity: Severity
  /** A line that is the same for the beginning and the end. */
  readonly title: string
  readonly text: string
  /** The time when it began. */
  readonly since: Date
  /** The time of this event. */
  readonly at: Date
  /** The names of what it is about, for people and for rules of the receiver. */
  readonly facts: Readonly<Record<string, string>>
  /** The page of the console about it; absent if the deployment has told no address. */
  readonly link?: string
}

/** The title of an alert without its subject, and its urgency. */
const KINDS: Readonly<Record<AlertKind, { readonly title: string; readonly severity: Severity }>> = {
  balance_low: { title: 'Balance low', severity: 'warning' },
  token_balance_high: { title: 'Token balance high', severity: 'warning' },
  transaction_stuck: { title: 'Transaction stuck', severity: 'critical' },
  relayer_disabled: { title: 'Relayer disabled', severity: 'critical' },
  endpoint_down: { title: 'Endpoint down', severity: 'error' },
  chain_halted: { title: 'Network without blocks', severity: 'critical' },
  budget_nearly_used: { title: 'Budget nearly used', severity: 'warning' },
  delivery_dead: { title: 'Deliveries given up', severity: 'error' },
}

/** The body of a webhook, as far as it is read here. */
interface Body {
  readonly id: string
  readonly event: string
  readonly timestamp: string
  readonly payload: unknown
}

/**
 * Reads an announcement from the body that a webhook would get. Returns undefined for an event that is
 * neither an alert nor a test. `publicUrl` is the address of the service for people. Pure.
 */
export function readAnnouncement(body: string, publicUrl?: string): Announcement | undefined {
  const { id, event, timestamp, payload } = JSON.parse(body) as Body
  const at = new Date(timestamp)
  if (event === 'notification_test') {
    const { notification_id: name } = payload as { readonly notification_id: string }
    return testOf({ id, name, at, publicUrl })
  }
  return event === 'alert' ? alertOf(payload as AlertNotice, publicUrl) : undefined
}

interface Test {
  readonly id: string
  /** The id of the notification. */
  readonly name: string
  readonly at: Date
  readonly publicUrl?: string | undefined
}

function testOf({ id, name, at, publicUrl }: Test): Announcement {
  return {
    key: `test-${id}`,
    state: 'firing',
    severity: 'info',
    title: `Test of notification ${name}`,
    text: 'Someone asked the relayer service for this test. Nothing is wrong, and nothing ends it: close it by hand.',
    since: at,
    at,
    facts: { notification_id: name },
    ...linkTo(publicUrl, ['notifications', name]),
  }
}

function alertOf(notice: AlertNotice, publicUrl: string | undefined): Announcement {
  const { alert, alert_id, state, since, resolved_at, message } = notice
  const { title, severity } = KINDS[alert]
  return {
    key: `alert-${alert_id}`,
    state,
    severity,
    title: `${title}: ${subjectOf(notice)}`,
    text: message,
    since: new Date(since),
    at: new Date(resolved_at ?? since),
    facts: factsOf(notice),
    ...linkTo(publicUrl, pathOf(notice)),
  }
}

/** Names what the alert is about, by nothing that changes between its beginning and its end. */
function subjectOf(notice: AlertNotice): string {
  const { network, relayer_id, transaction_id, notification_id, api_key_id, endpoint } = notice
  if (transaction_id !== undefined) return `${transaction_id} of relayer ${relayer_id}`
  if (endpoint !== undefined) return `${endpoint} of ${network}`
  if (notification_id !== undefined) return `notification ${notification_id}`
  if (api_key_id !== undefined) return `API key ${api_key_id} on ${network}`
  return relayer_id === undefined ? `${network}` : `relayer ${relayer_id} on ${network}`
}

/** The fields of an alert that name something. */
const NAMES = [
  'network',
  'relayer_id',
  'transaction_id',
  'notification_id',
  'api_key_id',
  'endpoint',
  'value',
  'threshold',
] as const

function factsOf(notice: AlertNotice): Record<string, string> {
  const named = NAMES.flatMap((name) => {
    const value = notice[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { alert: notice.alert, ...Object.fromEntries(named) }
}

/** Returns the page of the console that shows what the alert is about. */
function pathOf({ relayer_id, transaction_id, notification_id, api_key_id, network }: AlertNotice): string[] {
  if (transaction_id !== undefined && relayer_id !== undefined)
    return ['transactions', relayer_id, transaction_id]
  if (relayer_id !== undefined) return ['relayers', relayer_id]
  if (notification_id !== undefined) return ['notifications', notification_id]
  if (api_key_id !== undefined) return ['api-keys', api_key_id]
  return network === undefined ? [] : ['networks']
}

/** The console keeps its place behind the `#`, so no server between sees it. */
function linkTo(publicUrl: string | undefined, path: readonly string[]): { readonly link?: string } {
  if (publicUrl === undefined) return {}
  return { link: `${publicUrl}/console#/${path.map(encodeURIComponent).join('/')}` }
}
