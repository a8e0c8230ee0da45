import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

/** A decoded message: the values of each field number, in order. */
export type Message = ReadonlyMap<number, readonly (Uint8Array | bigint)[]>

/** Decodes the wire format of Protocol Buffers: varints and fixed numbers as bigint, everything with a length as bytes. */
function decodeMessage(bytes: Uint8Array): Message {
  const fields = new Map<number, (Uint8Array | bigint)[]>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at)
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const read = (type: number): Uint8Array | bigint => {
    if (type === 0) return varint()
    const length = type === 2 ? Number(varint()) : type === 1 ? 8 : 4
    at += length
    if (type === 1) return view.getBigUint64(at - 8, true)
    if (type === 5) return BigInt(view.getUint32(at - 4, true))
    if (type !== 2) throw new Error(`wire type ${type} is not known`)
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const number = tag >> 3
    fields.set(number, [...(fields.get(number) ?? []), read(tag & 7)])
  }
  return fields
}

function messagesIn(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((value) => decodeMessage(value as Uint8Array))
}

function textIn(message: Message, field: number): string {
  return Buffer.from((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array).toString('utf8')
}

function hexIn(message: Message, field: number): string {
  return Buffer.from((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array).toString('hex')
}

function numberIn(message: Message, field: number): bigint {
  return (message.get(field)?.[0] ?? 0n) as bigint
}

/** A number that was sent as 64 bits of a double. */
function doubleOf(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0] ?? Number.NaN
}

/** Repeated numbers of 64 bits in one field. */
function packedIn(message: Message, field: number): bigint[] {
  const bytes = Uint8Array.from((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array)
  return [...new BigUint64Array(bytes.buffer)]
}

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
