import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadContract, type Node } from '../../src/contract/document.ts'
import { parseJson } from '../../src/contract/exact-integers.ts'
import { createSchemaCompiler } from '../../src/contract/schemas.ts'
import { until } from './until.ts'

/** A request as the receiver got it. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  /** The exact body. */
  readonly text: string
  readonly body: WebhookBody
  /** Connections so far, this one included: the same number means the same connection. */
  readonly connection: number
}

export interface WebhookBody {
  readonly id: string
  readonly event: string
  readonly timestamp: string
  readonly payload: { readonly payload_type: string; readonly id?: string; readonly status?: string }
}

/** The reaction to a request: an HTTP status, or anything that can be done to a response. */
export type Behaviour = number | ((response: ServerResponse) => void)

/** A webhook receiver that behaves as told. */
export interface Receiver {
  readonly url: string
  /** Everything that came, in the order of arrival, whatever was answered. */
  readonly received: readonly Received[]
  /** Sets the reaction to each further request. */
  behave(always: (request: Received) => Behaviour): void
  /** Waits until so many have come. */
  arrived(count: number, timeoutMs?: number): Promise<readonly Received[]>
  /** No longer there: connections are refused until `start`. */
  down(): Promise<void>
  up(): Promise<void>
  stop(): Promise<void>
}

/** Starts one that answers everything with 204. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let decide: (request: Received) => Behaviour = () => 204
  let connections = 0
  const numbers = new WeakMap<object, number>()

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const connection = numbers.get(request.socket) ?? 0
    const one = { headers: request.headers, text, body: JSON.parse(text) as WebhookBody, connection }
    received.push(one)
    const behaviour = decide(one)
    if (typeof behaviour === 'number') response.writeHead(behaviour).end()
    else behaviour(response)
  })
  server.on('connection', (socket) => {
    connections += 1
    numbers.set(socket, connections)
  })

  async function listen(port: number): Promise<number> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  async function close(): Promise<void> {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }

  const port = await listen(0)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    behave: (always) => {
      decide = always
    },
    arrived: (count, timeoutMs = 60_000) =>
      until(
        async () => received,
        (list) => list.length >= count,
        { timeoutMs },
      ),
    down: close,
    up: async () => {
      await listen(port)
    },
    stop: async () => {
      if (server.listening) await close()
    },
  }
}

const contract = await loadContract()
const compiler = createSchemaCompiler(contract, { normalise: false })

/** The schemas of bodies in the section `webhooks` of the contract, by `event`. */
const bodies = new Map(
  Object.entries(contract.document.webhooks as Record<string, Node>).map(([event, { post }]) => {
    const { content } = (post as Node).requestBody as { content: Record<string, Node> }
    return [event, compiler.compile(content['application/json']?.schema as Node)]
  }),
)
const transaction = compiler.compile({ $ref: '#/components/schemas/Transaction' })

/** Returns the difference between the body of a delivery and the contract; undefined if there is none. */
export function checkWebhook(text: string): string | undefined {
  const body = parseJson(text) as { event: string; payload: { payload_type: string } }
  const validate = bodies.get(body.event)
  if (validate === undefined) return `the contract has no webhook ${body.event}`
  if (!validate(body))
    return JSON.stringify(validate.errors?.map(({ instancePath, message }) => [instancePath, message]))
  const { payload_type, ...rest } = body.payload
  if (payload_type !== 'transaction' || transaction(rest)) return undefined
  return JSON.stringify(transaction.errors?.map(({ instancePath, message }) => [instancePath, message]))
}
