import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Covers everything from opening the connection to the last byte of the answer, in ms. */
  readonly timeoutMs: number
}

/** The answer of the server, whatever its status. */
export interface PostAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The whole body, or its beginning where the client reads no more. */
  readonly body: string
}

/** Sends HTTP POST requests over connections that it keeps. */
export interface HttpClient {
  /** Rejects when there is no complete answer: refused, reset, too late, too long, or a url that the client must not ask. */
  post(request: PostRequest): Promise<PostAnswer>
  /** Closes the connections. */
  close(): void
}

export interface HttpClientOptions {
  /** Resolves host names. Default: the resolver of the system. */
  readonly lookup?: LookupFunction
  /** Throws for a url that the client must not ask. Default: the client asks every url. */
  readonly checkUrl?: (url: URL) => void
  /** The longest body that is read in full, in bytes; `post` rejects a longer one. Default: the client reads only the beginning. */
  readonly wholeBodyBytes?: number
  /** Idle connections per host that are kept for the next request. Default 8. */
  readonly idleSockets?: number
}

/** The client reads this much of a body whose beginning is enough, in bytes: people look at it to find a fault. */
const BEGINNING_BYTES = 16_384

/** The client keeps this many headers of an answer, and this many characters of each. */
const MAX_HEADERS = 50
const MAX_HEADER_LENGTH = 500

const DEFAULT_IDLE_SOCKETS = 8

/**
 * An idle connection is closed after this time, in ms, or a second before the server's `Keep-Alive: timeout` ends. Load balancers drop
 * idle connections silently after a minute or more, and a request on a dropped connection would wait for its time-out.
 */
const IDLE_MS = 30_000

/** Creates a client that reuses connections. It does not follow redirects: only the configured url is asked. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { lookup, checkUrl, wholeBodyBytes, idleSockets = DEFAULT_IDLE_SOCKETS } = options
  const settings = {
    keepAlive: true,
    timeout: IDLE_MS,
    maxFreeSockets: idleSockets,
    ...(lookup && { lookup }),
  }
  const agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) }
  const body = wholeBodyBytes === undefined ? BEGINNING : wholeBody(wholeBodyBytes)
  return {
    post: async (request) => {
      const url = new URL(request.url)
      checkUrl?.(url)
      const open = (how: RequestOptions) =>
        url.protocol === 'https:'
          ? httpsRequest(url, { ...how, agent: agents.https })
          : httpRequest(url, { ...how, agent: agents.http })
      return exchange({ open, body }, request)
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** A way to read the body of an answer. */
interface BodyReader {
  /** Headers that ask for a body which `read` understands. */
  readonly headers: Readonly<Record<string, string>>
  readonly read: (response: IncomingMessage) => Promise<string>
}

interface Exchange {
  readonly open: (options: RequestOptions) => ClientRequest
  readonly body: BodyReader
}

async function exchange(
  { open, body: { headers: accept, read } }: Exchange,
  { headers, body, timeoutMs }: PostRequest,
): Promise<PostAnswer> {
  const late = new AbortController()
  const timer = setTimeout(
    () => late.abort(new DOMException(`no complete answer within ${timeoutMs} ms`, 'TimeoutError')),
    timeoutMs,
  )
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>()
  try {
    const outgoing = open({
      method: 'POST',
      headers: { ...accept, ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal: late.signal,
    })
    outgoing.on('response', (response) => readAnswer(response, read).then(resolve, reject))
    outgoing.on('error', reject)
    outgoing.end(body)
    return await promise
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

async function readAnswer(response: IncomingMessage, read: BodyReader['read']): Promise<PostAnswer> {
  const body = await read(response)
  return { status: response.statusCode ?? 0, headers: readHeaders(response), body }
}

/** Stops reading at the limit, which closes the connection. The text must fit a database, which stores no NUL character. */
const BEGINNING: BodyReader = {
  headers: {},
  read: async (response) => {
    const { bytes } = await collect(response, BEGINNING_BYTES)
    return new TextDecoder().decode(bytes.subarray(0, BEGINNING_BYTES)).replaceAll('\u0000', '\ufffd')
  },
}

/** Accepts gzip, because nodes answer batches with megabytes of JSON. The limit counts decompressed bytes. */
function wholeBody(limit: number): BodyReader {
  return {
    headers: { 'accept-encoding': 'gzip' },
    read: async (response) => {
      // One byte more than the limit shows that the body is too long.
      const { bytes, size } = await collect(decompress(response), limit + 1)
      if (size > limit) throw new Error(`the answer has more than ${limit} bytes`)
      return new TextDecoder().decode(bytes)
    },
  }
}

function decompress(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // The loop that reads the decompressed stream receives every error, so the callback has nothing to do.
  return pipeline(response, createGunzip(), () => {})
}

async function collect(stream: Readable, enough: number): Promise<{ bytes: Buffer; size: number }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= enough) break
  }
  return { bytes: Buffer.concat(chunks), size }
}

function readHeaders({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).slice(0, MAX_HEADERS)
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value).slice(0, MAX_HEADER_LENGTH)]))
}
