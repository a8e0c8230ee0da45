import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** An error as JSON-RPC knows it. */
export class RpcFault extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Codes of JSON-RPC 2.0. */
const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** Refuses parameters. */
export function invalidParams(message: string): RpcFault {
  return new RpcFault(INVALID_PARAMS, message)
}

/**
 * JSON-RPC over HTTP: `/` is up to date, `/behind/3` is a replica that is three blocks late. `/nodes/2` and `/nodes/2/behind/3` are the
 * same of the second further node, where a network has several that differ in more than that.
 */
export interface JsonRpcServer {
  readonly url: string
  stop(): Promise<void>
}

/** One call, as far as JSON-RPC itself has nothing against it. */
export interface JsonRpcCall {
  /** The lag of the replica that was asked, in blocks. */
  readonly behind: number
  /** The index of the node that was asked; 0 where the path names none. */
  readonly node: number
  readonly method: string
  /** Undefined if the call has none. */
  readonly params: unknown
}

/** The differences between the nodes that use it. */
export interface JsonRpcNode {
  /** The messages for a body that is not JSON, is no call, or is an empty batch. */
  readonly messages: { readonly unreadable: string; readonly invalid: string; readonly empty: string }
  /** Largest body that it takes, in bytes; a larger one is HTTP 413. Default: any. */
  readonly maxBodyBytes?: number
  /** The port of 127.0.0.1 that it listens on; a free one if absent. */
  readonly port?: number | undefined
  /** Answers a call. Throws an {@link RpcFault} when it cannot. */
  answer(call: JsonRpcCall): unknown
  /** Writes a reply as JSON. */
  write(reply: unknown): string
}

const NODE_PATH = /^(?:\/nodes\/(\d+))?(?:\/behind\/(\d+))?\/?$/

/** An idle connection stays open for this time, in ms: longer than any test pauses. */
const KEEP_ALIVE_MS = 600_000

/** Starts it on its port, or a free one. */
export async function startJsonRpcServer(node: JsonRpcNode): Promise<JsonRpcServer> {
  const server = createServer((request, response) => {
    serve(node, request, response).catch(() => response.destroy())
  })
  // A client that pauses for as long as Node's 5 s would send its next call on a connection that is just being closed.
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.listen(node.port ?? 0, '127.0.0.1')
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

async function serve(node: JsonRpcNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  if (node.maxBodyBytes !== undefined && Buffer.byteLength(body) > node.maxBodyBytes) {
    response.writeHead(413, { 'content-type': 'text/plain' })
    response.end('Request body too large')
    return
  }
  const [, asked = 0, behind = 0] = NODE_PATH.exec(request.url ?? '') ?? []
  const reply = answerBody(node, { node: Number(asked), behind: Number(behind) }, body)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(node.write(reply))
}

type Asked = Pick<JsonRpcCall, 'behind' | 'node'>

function answerBody(node: JsonRpcNode, asked: Asked, body: string): unknown {
  const { messages } = node
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return failure(null, new RpcFault(PARSE_ERROR, messages.unreadable))
  }
  if (!Array.isArray(parsed)) return answerCall(node, asked, parsed)
  if (parsed.length === 0) return failure(null, new RpcFault(INVALID_REQUEST, messages.empty))
  return parsed.map((call) => answerCall(node, asked, call))
}

function answerCall(node: JsonRpcNode, asked: Asked, call: unknown): unknown {
  const { id = null, jsonrpc, method, params } = (call ?? {}) as Record<string, unknown>
  if (jsonrpc !== '2.0' || typeof method !== 'string') {
    return failure(id, new RpcFault(INVALID_REQUEST, node.messages.invalid))
  }
  try {
    return { jsonrpc: '2.0', result: node.answer({ ...asked, method, params }), id }
  } catch (error) {
    return failure(id, error)
  }
}

/** Any other error than an {@link RpcFault} is a fault of the node; the test needs its stack. */
function failure(id: unknown, error: unknown): unknown {
  if (!(error instanceof RpcFault)) {
    return { jsonrpc: '2.0', error: { code: INTERNAL_ERROR, message: String((error as Error).stack) }, id }
  }
  const { code, message, data } = error
  return { jsonrpc: '2.0', error: data === undefined ? { code, message } : { code, message, data }, id }
}
