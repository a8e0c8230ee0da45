import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** One JSON-RPC call as it came over the wire. */
export interface WireCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** The answer of the server to one HTTP request; `silent` never answers, `cut` breaks the connection. */
export type WireAnswer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown }
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly text: string }
  | 'silent'
  | 'cut'

/** A real HTTP server that answers JSON-RPC as a test wants it, with everything it was asked. */
export interface RpcServer {
  readonly url: string
  /** The calls of each HTTP request, in the order of arrival. */
  readonly requests: readonly (readonly WireCall[])[]
  /** The text of each HTTP request. */
  readonly bodies: readonly string[]
  /** The number of connections that were opened so far. */
  readonly connections: number
  stop(): Promise<void>
}

/** Starts the server on a free port of this machine. `answer` gets the calls of one HTTP request. */
export async function startRpcServer(answer: (calls: readonly WireCall[]) => WireAnswer): Promise<RpcServer> {
  const requests: WireCall[][] = []
  const bodies: string[] = []
  let connections = 0
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const calls = readCalls(text)
      bodies.push(text)
      requests.push(calls)
      send(response, answer(calls))
    })
  })
  server.on('connection', () => {
    connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('No port was given.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    bodies,
    get connections() {
      return connections
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers each method with a fixed result; an unknown method with the error that nodes give. */
export function answerWith(
  results: Readonly<Record<string, unknown>>,
): (calls: readonly WireCall[]) => WireAnswer {
  return (calls) => {
    const replies = calls.map(({ id, method }) =>
      method in results
        ? { jsonrpc: '2.0', id, result: results[method] }
        : { jsonrpc: '2.0', id, error: { code: -32601, message: `the method ${method} does not exist` } },
    )
    return { body: replies.length === 1 ? replies[0] : replies }
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  return (await request.toArray()).join('')
}

function readCalls(text: string): WireCall[] {
  const body = JSON.parse(text) as WireCall | WireCall[]
  return Array.isArray(body) ? body : [body]
}

function send(response: ServerResponse, answer: WireAnswer): void {
  if (answer === 'silent') return
  if (answer === 'cut') return void response.destroy()
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
  response.end('text' in answer ? answer.text : JSON.stringify(answer.body))
}
