import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Chain } from './chain/chain.ts'
import { createNode, type Node } from './node.ts'
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, RpcFault } from './rpc/fault.ts'
import { writeJson } from './rpc/json.ts'
import { callMethod } from './rpc/methods.ts'

/** JSON-RPC over HTTP: `/` is up to date, `/behind/3` is a replica that is three blocks late. */
export interface SolanaServer {
  readonly url: string
  stop(): Promise<void>
}

const REPLICA_PATH = /^\/behind\/(\d+)$/

/** Starts it on a free port. */
export async function startSolanaServer(chain: Chain): Promise<SolanaServer> {
  const server = createServer((request, response) => {
    serve(chain, request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function serve(chain: Chain, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const behind = Number(REPLICA_PATH.exec(request.url ?? '')?.[1] ?? 0)
  const reply = answer(createNode(chain, behind), body)
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
  response.end(writeJson(reply))
}

function answer(node: Node, body: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return failure(null, new RpcFault(PARSE_ERROR, 'Parse error'))
  }
  if (!Array.isArray(parsed)) return answerCall(node, parsed)
  if (parsed.length === 0) return failure(null, new RpcFault(INVALID_REQUEST, 'Invalid request'))
  return parsed.map((call) => answerCall(node, call))
}

function answerCall(node: Node, call: unknown): unknown {
  const { id = null, jsonrpc, method, params = [] } = (call ?? {}) as Record<string, unknown>
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !Array.isArray(params)) {
    return failure(id, new RpcFault(INVALID_REQUEST, 'Invalid request'))
  }
  try {
    return { jsonrpc: '2.0', result: callMethod(node, method, params), id }
  } catch (error) {
    return failure(id, error)
  }
}

/** What is no {@link RpcFault} is a fault of this node; the test that met it must see where. */
function failure(id: unknown, error: unknown): unknown {
  if (!(error instanceof RpcFault)) {
    return { jsonrpc: '2.0', error: { code: INTERNAL_ERROR, message: String((error as Error).stack) }, id }
  }
  const { code, message, data } = error
  return { jsonrpc: '2.0', error: data === undefined ? { code, message } : { code, message, data }, id }
}
