import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/**
 * What happens to a call. `pass`: nothing · `drop`: the connection breaks before the node hears of it · `lose`: the node
 * does it and the reply is lost · `http_500` / `http_429`: the endpoint answers so and the node hears nothing.
 */
export type Fault = 'pass' | 'drop' | 'lose' | 'http_500' | 'http_429'

/** A node that can be made to fail, in front of a real one. */
export interface FaultyNode {
  readonly url: string
  /** Decides for each HTTP request by the methods in it. */
  fault: (methods: readonly string[]) => Fault
  /** How often each method was asked for. */
  readonly calls: Map<string, number>
  stop(): Promise<void>
}

/** Starts it on a free port; at first everything passes. */
export async function startFaultyNode(target: string): Promise<FaultyNode> {
  const node: { fault: FaultyNode['fault']; calls: Map<string, number> } = {
    fault: () => 'pass',
    calls: new Map(),
  }
  const server = createServer((request, response) => {
    serve(node, target, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(node, {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

async function serve(
  node: Pick<FaultyNode, 'fault' | 'calls'>,
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request)
  const parsed = JSON.parse(body) as { method: string } | { method: string }[]
  const methods = (Array.isArray(parsed) ? parsed : [parsed]).map((call) => call.method)
  for (const method of methods) node.calls.set(method, (node.calls.get(method) ?? 0) + 1)
  const fault = node.fault(methods)
  if (fault === 'drop') return void request.socket.destroy()
  if (fault === 'http_500' || fault === 'http_429') {
    response.writeHead(fault === 'http_500' ? 500 : 429).end('no')
    return
  }
  const answer = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const reply = await answer.text()
  if (fault === 'lose') return void request.socket.destroy()
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(reply)
}
