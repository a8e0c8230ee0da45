import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Ledger } from './ledger.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcFault } from './rpc/fault.ts'
import { callMethod } from './rpc/methods.ts'
import { createNode, type Node } from './rpc/node.ts'
import type { Params } from './rpc/params.ts'

/** JSON-RPC over HTTP: `/` is up to date, `/behind/3` is a replica that is three ledgers late. */
export interface LedgerServer {
  readonly url: string
  stop(): Promise<void>
}

const PARSE_ERROR = -32700
const REPLICA_PATH = /^\/behind\/(\d+)$/

/** Starts it on a free port. */
export async function startLedgerServer(ledger: Ledger): Promise<LedgerServer> {
  const server = createServer((request, response) => {
    serve(ledger, request, response).catch(() => response.destroy())
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

async function serve(ledger: Ledger, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const behind = Number(REPLICA_PATH.exec(request.url ?? '')?.[1] ?? 0)
  const reply = answer(createNode(ledger, behind), body)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(reply))
}

function answer(node: Node, body: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return failure(null, new RpcFault(PARSE_ERROR, 'invalid request'))
  }
  if (!Array.isArray(parsed)) return answerCall(node, parsed)
  if (parsed.length === 0) return failure(null, new RpcFault(INVALID_REQUEST, 'empty request batch'))
  return parsed.map((call) => answerCall(node, call))
}

function answerCall(node: Node, call: unknown): unknown {
  const { id = null, jsonrpc, method, ...rest } = (call ?? {}) as Record<string, unknown>
  // Clients say that there are none by leaving them out, or by null.
  const params = rest.params ?? {}
  if (jsonrpc !== '2.0' || typeof method !== 'string') {
    return failure(id, new RpcFault(INVALID_REQUEST, 'invalid request'))
  }
  if (typeof params !== 'object' || Array.isArray(params)) {
    return failure(id, new RpcFault(INVALID_PARAMS, 'invalid parameters'))
  }
  try {
    return { jsonrpc: '2.0', id, result: callMethod(node, method, params as Params) }
  } catch (error) {
    return failure(id, error)
  }
}

/** What is no {@link RpcFault} is a fault of this ledger; the test that met it must see where. */
function failure(id: unknown, error: unknown): unknown {
  const code = error instanceof RpcFault ? error.code : INTERNAL_ERROR
  const message = error instanceof RpcFault ? error.message : String((error as Error).stack)
  return { jsonrpc: '2.0', id, error: { code, message } }
}
