import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { until } from './until.ts'

/** The fields of the three services that tests read. Their schemas are checked on arrival. */
interface AnnouncedBody {
  readonly alias?: string
  readonly dedup_key?: string
  readonly event_action?: string
  readonly payload?: { readonly summary: string }
  readonly blocks?: readonly { readonly text?: { readonly text: string } }[]
}

/** A request that one of the services got, and what it answered. */
export interface Announced {
  readonly service: 'slack' | 'pagerduty' | 'opsgenie'
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: AnnouncedBody
  readonly answered: number
}

/** Slack, PagerDuty and Opsgenie on one port: each takes what its documentation describes, and refuses anything else. */
export interface AlertServices {
  /** The base url of PagerDuty and Opsgenie. */
  readonly url: string
  readonly slackUrl: string
  readonly received: readonly Announced[]
  /** The next requests of a service get this status, whatever they are. */
  fail(service: Announced['service'], status: number, count: number): void
  /** Waits until a service has taken so many. */
  taken(service: Announced['service'], count: number): Promise<readonly Announced[]>
  stop(): Promise<void>
}

const ajv = new Ajv({ allErrors: true, strict: false })
addFormats.default(ajv)

const text = (maxLength: number, minLength = 1) => ({ type: 'string', minLength, maxLength })

/** docs.slack.dev: "Sending messages using incoming webhooks", "Blocks". */
const SLACK = ajv.compile({
  type: 'object',
  required: ['text', 'blocks'],
  additionalProperties: false,
  properties: {
    text: text(40_000),
    blocks: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: {
        oneOf: [
          {
            type: 'object',
            required: ['type', 'text'],
            additionalProperties: false,
            properties: {
              type: { const: 'header' },
              text: {
                type: 'object',
                additionalProperties: false,
                required: ['type', 'text'],
                properties: { type: { const: 'plain_text' }, text: text(150) },
              },
            },
          },
          {
            type: 'object',
            required: ['type', 'text'],
            additionalProperties: false,
            properties: {
              type: { const: 'section' },
              text: {
                type: 'object',
                additionalProperties: false,
                required: ['type', 'text'],
                properties: { type: { const: 'mrkdwn' }, text: text(3_000) },
              },
            },
          },
          {
            type: 'object',
            required: ['type', 'elements'],
            additionalProperties: false,
            properties: {
              type: { const: 'context' },
              elements: {
                type: 'array',
                minItems: 1,
                maxItems: 10,
                items: {
                  type: 'object',
                  required: ['type', 'text'],
                  properties: { type: { enum: ['plain_text', 'mrkdwn'] }, text: text(3_000) },
                },
              },
            },
          },
        ],
      },
    },
  },
})

/** developer.pagerduty.com: "Send an alert event". */
const PAGERDUTY = ajv.compile({
  type: 'object',
  required: ['routing_key', 'event_action'],
  additionalProperties: false,
  properties: {
    routing_key: text(32, 32),
    event_action: { enum: ['trigger', 'acknowledge', 'resolve'] },
    dedup_key: text(255),
    client: { type: 'string' },
    client_url: { type: 'string', format: 'uri' },
    links: {
      type: 'array',
      items: {
        type: 'object',
        required: ['href'],
        additionalProperties: false,
        properties: { href: { type: 'string', format: 'uri' }, text: { type: 'string' } },
      },
    },
    images: { type: 'array' },
    payload: {
      type: 'object',
      required: ['summary', 'source', 'severity'],
      additionalProperties: false,
      properties: {
        summary: text(1_024),
        source: text(1_024),
        severity: { enum: ['critical', 'error', 'warning', 'info'] },
        timestamp: { type: 'string', format: 'date-time' },
        component: { type: 'string' },
        group: { type: 'string' },
        class: { type: 'string' },
        custom_details: { type: 'object' },
      },
    },
  },
  if: { properties: { event_action: { const: 'trigger' } } },
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
  then: { required: ['payload'] },
  else: { required: ['dedup_key'] },
})

/** docs.opsgenie.com: "Create Alert". */
const OPSGENIE_CREATE = ajv.compile({
  type: 'object',
  required: ['message'],
  additionalProperties: false,
  properties: {
    message: text(130),
    alias: text(512),
    description: text(15_000),
    tags: { type: 'array', maxItems: 20, items: text(50) },
    details: { type: 'object', additionalProperties: { type: 'string' } },
    entity: text(512),
    source: text(100),
    priority: { enum: ['P1', 'P2', 'P3', 'P4', 'P5'] },
    user: text(100),
    note: text(25_000),
  },
})

/** docs.opsgenie.com: "Close Alert". */
const OPSGENIE_CLOSE = ajv.compile({
  type: 'object',
  additionalProperties: false,
  properties: { user: text(100), source: text(100), note: text(25_000) },
})

interface Reply {
  readonly service: Announced['service']
  readonly status: number
  readonly body: string
}

function replyTo(path: string, { authorization }: IncomingHttpHeaders, body: unknown): Reply | undefined {
  if (path.startsWith('/services/')) {
    const isGood = SLACK(body)
    return { service: 'slack', status: isGood ? 200 : 400, body: isGood ? 'ok' : 'invalid_blocks' }
  }
  if (path === '/v2/enqueue') {
    if (PAGERDUTY(body))
      return {
        service: 'pagerduty',
        status: 202,
        body: JSON.stringify({ status: 'success', message: 'Event processed' }),
      }
    const errors = ajv.errorsText(PAGERDUTY.errors)
    return {
      service: 'pagerduty',
      status: 400,
      body: JSON.stringify({ status: 'invalid event', errors: [errors] }),
    }
  }
  if (!path.startsWith('/v2/alerts')) return undefined
  const validate = path === '/v2/alerts' ? OPSGENIE_CREATE : OPSGENIE_CLOSE
  if (!authorization?.startsWith('GenieKey '))
    return { service: 'opsgenie', status: 401, body: '{"message":"Key format is not valid!"}' }
  if (validate(body))
    return { service: 'opsgenie', status: 202, body: '{"result":"Request will be processed"}' }
  return {
    service: 'opsgenie',
    status: 422,
    body: JSON.stringify({ message: ajv.errorsText(validate.errors) }),
  }
}

export async function startAlertServices(): Promise<AlertServices> {
  const received: Announced[] = []
  const failures = new Map<string, number[]>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
    const path = request.url ?? ''
    const reply = replyTo(path, request.headers, body)
    if (reply === undefined) {
      response.writeHead(404).end()
      return
    }
    const answered = failures.get(reply.service)?.shift() ?? reply.status
    received.push({
      service: reply.service,
      path,
      headers: request.headers,
      body: body as AnnouncedBody,
      answered,
    })
    response.writeHead(answered).end(answered === reply.status ? reply.body : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    slackUrl: `${url}/services/T000/B000/${SLACK_SECRET}`,
    received,
    fail: (service, status, count) =>
      failures.set(
        service,
        Array.from({ length: count }, () => status),
      ),
    taken: (service, count) =>
      until(
        async () => received.filter((one) => one.service === service && one.answered < 300),
        (list) => list.length >= count,
      ),
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The last part of the path of a Slack webhook is its secret. */
export const SLACK_SECRET = 'slack-secret-of-the-webhook'
