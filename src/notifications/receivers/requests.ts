import type { Notification, NotificationType } from '../notification.ts'
import { type Announcement, readAnnouncement, type Severity } from './announcement.ts'
import { mailOf, recipientsOf } from './mail.ts'

/** A request that announces something. */
interface AnnouncingRequest {
  readonly url: string
  /** Without the key. */
  readonly headers: Readonly<Record<string, string>>
  /** The header that authenticates, if the key is not in the body. People never see it. */
  readonly secretHeaders?: Readonly<Record<string, string>>
  readonly body: string
}

/** A service that announces something to people. */
interface Service {
  /** The url that the notification stores. */
  readonly url: string
  /** The integration key; masked in what people see. Unused by a service whose url is the secret. */
  readonly key: string
}

/** Writes the request for an announcement. Pure. */
type RequestWriter = (announcement: Announcement, service: Service) => AnnouncingRequest

const JSON_TYPE = { 'content-type': 'application/json', 'user-agent': 'relayer-alerts' }

/** Names this service to the receivers. */
const SOURCE = 'relayer'

/**
 * The longest text in characters, of which Opsgenie takes 15,000 with a link, and PagerDuty 512 kB in all.
 */
const MAX_TEXT = 10_000

/** The longest header of Slack, and the longest text of a section, in characters; it refuses longer ones. */
const SLACK_HEADER = 150
const SLACK_SECTION = 3_000

/**
 * Writes a message for an incoming webhook of Slack (docs.slack.dev, "Sending messages using incoming
 * webhooks"). Such a webhook cannot reply in a thread, so beginning and end have the same title and id.
 */
const slackRequest: RequestWriter = (announcement, { url }) => {
  const { key, state, severity, title, text, since, link } = announcement
  const mark = state === 'resolved' ? '✅' : MARKS[severity]
  const header = cut(`${mark} ${state === 'resolved' ? 'Resolved: ' : ''}${title}`, SLACK_HEADER)
  const lines = link === undefined ? [escaped(text)] : [escaped(text), `<${link}|Open in the console>`]
  const body = {
    // Shown where blocks are not, such as in notifications of a phone.
    text: cut(escaped(`${header} – ${text}`), SLACK_SECTION),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: header } },
      // The link has a section of its own, so that a long text never cuts it.
      ...lines.map((line) => ({ type: 'section', text: { type: 'mrkdwn', text: cut(line, SLACK_SECTION) } })),
      {
        type: 'context',
        elements: [{ type: 'plain_text', text: `${severity} · since ${since.toISOString()} · ${key}` }],
      },
    ],
  }
  return { url, headers: JSON_TYPE, body: JSON.stringify(body) }
}

const MARKS: Readonly<Record<Severity, string>> = { critical: '🔴', error: '🔴', warning: '🟠', info: '🔵' }

/** Names of relayers could otherwise mention everyone, or hide a link (Slack: "Escaping text"). */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** The longest summary of PagerDuty, in characters; it cuts longer ones. */
const PAGERDUTY_SUMMARY = 1_024

/**
 * Writes an event of PagerDuty's Events API v2: `trigger` opens an incident, and `resolve` with the same
 * `dedup_key` closes it.
 */
const pagerDutyRequest: RequestWriter = (announcement, { url, key: routingKey }) => {
  const { key, state, severity, title, text, at, facts, link } = announcement
  const identified = { routing_key: routingKey, dedup_key: key }
  const payload = {
    summary: cut(`${title}. ${text}`, PAGERDUTY_SUMMARY),
    source: facts.relayer_id ?? facts.network ?? SOURCE,
    severity,
    timestamp: at.toISOString(),
    class: facts.alert ?? 'test',
    custom_details: { ...facts, message: cut(text, MAX_TEXT) },
  }
  const body =
    state === 'resolved'
      ? { ...identified, event_action: 'resolve' }
      : {
          ...identified,
          event_action: 'trigger',
          client: SOURCE,
          ...(link !== undefined && {
            client_url: link,
            links: [{ href: link, text: 'Open in the console' }],
          }),
          payload,
        }
  return { url: below(url, '/v2/enqueue'), headers: JSON_TYPE, body: JSON.stringify(body) }
}

/** The longest `message` of Opsgenie, in characters; it refuses longer ones. */
const OPSGENIE_MESSAGE = 130

const PRIORITIES: Readonly<Record<Severity, string>> = {
  critical: 'P1',
  error: 'P2',
  warning: 'P3',
  info: 'P5',
}

/** Writes a request of Opsgenie's Alert API: the same alias opens and closes an alert. */
const opsgenieRequest: RequestWriter = (announcement, { url, key: apiKey }) => {
  const { key, state, severity, title, text, facts, link } = announcement
  const common = { headers: JSON_TYPE, secretHeaders: { authorization: `GenieKey ${apiKey}` } }
  if (state === 'resolved') {
    const path = `/v2/alerts/${encodeURIComponent(key)}/close?identifierType=alias`
    return {
      ...common,
      url: below(url, path),
      body: JSON.stringify({ source: SOURCE, note: cut(text, MAX_TEXT) }),
    }
  }
  const body = {
    message: cut(title, OPSGENIE_MESSAGE),
    alias: key,
    description: `${cut(text, MAX_TEXT)}${link === undefined ? '' : `\n\n${link}`}`,
    priority: PRIORITIES[severity],
    source: SOURCE,
    tags: [SOURCE, facts.alert ?? 'test'],
    details: facts,
  }
  return { ...common, url: below(url, '/v2/alerts'), body: JSON.stringify(body) }
}

/** The writers of each type that is called by HTTP in its own form. */
export const REQUESTS = {
  slack: slackRequest,
  pagerduty: pagerDutyRequest,
  opsgenie: opsgenieRequest,
} as const satisfies Partial<Record<NotificationType, RequestWriter>>

/** The base url of the operator can end with a slash. */
function below(url: string, path: string): string {
  return `${url.replace(/\/+$/, '')}${path}`
}

/** Cuts a text without halving a character. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Stands for the integration key in what people see. */
const MASK = '***'

/**
 * Returns the body of a delivery as people may see it: in the form of the receiver, without its key. Pure.
 */
export function bodyFor(
  { type, url }: Pick<Notification, 'type' | 'url'>,
  body: string,
  publicUrl: string | undefined,
): string {
  if (type === 'webhook') return body
  const announcement = readAnnouncement(body, publicUrl)
  if (announcement === undefined) return body
  if (type === 'email') return mailOf(announcement, recipientsOf(url) ?? [], 'relayer@invalid').text
  return REQUESTS[type](announcement, { url, key: MASK }).body
}
