import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import {
  decodeMessage,
  doubleOf,
  hexIn,
  type Message,
  messagesIn,
  numberIn,
  packedIn,
  textIn,
} from './protobuf.ts'

type Attributes = Readonly<Record<string, string | number | boolean>>

export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  /** 2: server · 3: client. */
  readonly kind: number
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Attributes
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** 2: error. */
  readonly status: number
  readonly resource: Attributes
}

export interface ReceivedLog {
  readonly body: string
  readonly severity: string
  readonly traceId: string
  readonly attributes: Attributes
}

export interface ReceivedMetric {
  readonly name: string
  readonly kind: 'gauge' | 'sum' | 'histogram'
  readonly points: readonly {
    readonly attributes: Attributes
    readonly value: number
    readonly buckets: readonly number[]
    readonly bounds: readonly number[]
  }[]
}

/** A collector of OpenTelemetry: OTLP over HTTP, as protobuf. */
export interface OtlpReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  readonly logs: readonly ReceivedLog[]
  /** Those of the latest export. */
  readonly metrics: readonly ReceivedMetric[]
  readonly headers: readonly IncomingHttpHeaders[]
  /** Everything that came, as text, to look for secrets. */
  text(): string
  stop(): Promise<void>
}

/** Starts one. It answers everything with 200, or as `answer` does. */
export async function startOtlpReceiver(
  answer: (response: ServerResponse) => void = (response) => void response.writeHead(200).end(),
): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const logs: ReceivedLog[] = []
  const headers: IncomingHttpHeaders[] = []
  const bodies: Buffer[] = []
  let metrics: ReceivedMetric[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const sent = Buffer.concat(chunks)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    headers.push(request.headers)
    bodies.push(body)
    const message = decodeMessage(body)
    if (request.url === '/v1/traces') spans.push(...spansIn(message))
    if (request.url === '/v1/logs') logs.push(...logsIn(message))
    if (request.url === '/v1/metrics') metrics = metricsIn(message)
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    logs,
    get metrics() {
      return metrics
    },
    headers,
    text: () => `${Buffer.concat(bodies).toString('latin1')}${JSON.stringify(headers)}`,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function spansIn(message: Message): ReceivedSpan[] {
  return messagesIn(message, 1).flatMap((group) => {
    const resource = attributesIn(messagesIn(group, 1)[0] ?? new Map(), 1)
    return messagesIn(group, 2)
      .flatMap((scope) => messagesIn(scope, 2))
      .map((span) => ({
        traceId: hexIn(span, 1),
        spanId: hexIn(span, 2),
        parentSpanId: hexIn(span, 4),
        name: textIn(span, 5),
        kind: Number(numberIn(span, 6)),
        start: numberIn(span, 7),
        end: numberIn(span, 8),
        attributes: attributesIn(span, 9),
        links: messagesIn(span, 13).map((link) => ({ traceId: hexIn(link, 1), spanId: hexIn(link, 2) })),
        status: Number(numberIn(messagesIn(span, 15)[0] ?? new Map(), 3)),
        resource,
      }))
  })
}

function logsIn(message: Message): ReceivedLog[] {
  return messagesIn(message, 1)
    .flatMap((group) => messagesIn(group, 2))
    .flatMap((scope) => messagesIn(scope, 2))
    .map((record) => ({
      body: textIn(messagesIn(record, 5)[0] ?? new Map(), 1),
      severity: textIn(record, 3),
      traceId: hexIn(record, 9),
      attributes: attributesIn(record, 6),
    }))
}

const KINDS = [
  ['gauge', 5],
  ['sum', 7],
  ['histogram', 9],
] as const

function metricsIn(message: Message): ReceivedMetric[] {
  return messagesIn(message, 1)
    .flatMap((group) => messagesIn(group, 2))
    .flatMap((scope) => messagesIn(scope, 2))
    .flatMap((metric) =>
      KINDS.flatMap(([kind, field]) =>
        messagesIn(metric, field).map((data) => ({
          name: textIn(metric, 1),
          kind,
          points: messagesIn(data, 1).map((point) => pointOf(point, kind)),
        })),
      ),
    )
}

function pointOf(point: Message, kind: ReceivedMetric['kind']): ReceivedMetric['points'][number] {
  if (kind !== 'histogram')
    return {
      attributes: attributesIn(point, 7),
      value: point.has(6) ? Number(numberIn(point, 6)) : doubleOf(numberIn(point, 4)),
      buckets: [],
      bounds: [],
    }
  return {
    attributes: attributesIn(point, 9),
    value: Number(numberIn(point, 4)),
    buckets: packedIn(point, 6).map(Number),
    bounds: packedIn(point, 7).map(doubleOf),
  }
}

function attributesIn(message: Message, field: number): Attributes {
  return Object.fromEntries(
    messagesIn(message, field).map((pair) => [
      textIn(pair, 1),
      attributeOf(messagesIn(pair, 2)[0] ?? new Map()),
    ]),
  )
}

function attributeOf(value: Message): string | number | boolean {
  if (value.has(2)) return numberIn(value, 2) === 1n
  if (value.has(3)) return Number(BigInt.asIntN(64, numberIn(value, 3)))
  if (value.has(4)) return doubleOf(numberIn(value, 4))
  return textIn(value, 1)
}
