import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { urlToHttpOptions } from 'node:url'
import { createGunzip } from 'node:zlib'
import { BoundedMap } from '../bounded-map.ts'
import { AnswerTooLargeError, type ByteBudget } from './byte-budget.ts'

export interface PostRequest {
  readonly url: string
  /** Default: POST. A GET has an empty body. */
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Covers everything from opening the connection to the last byte of the answer, in ms. */
  readonly timeoutMs: number
  /** The limits of the answer, for a client that reads whole bodies. Default: those of the client. */
  readonly limits?: BodyLimits
  /**
   * The server may execute it twice without harm, so it is sent again if a kept connection turns out to be
   * closed.
   */
  readonly isRepeatable?: boolean
}

/** The answer of the server, whatever its status. */
export interface PostAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The whole body, or its beginning where the client reads no more. */
  readonly body: string
}

/** Sends HTTP requests, POST by default, over connections that it keeps. */
export interface HttpClient {
  /**
   * Rejects when there is no complete answer: refused, reset, too late, too long, or a URL that the client
   * must not use.
   */
  post(request: PostRequest): Promise<PostAnswer>
  /** Closes the connections. */
  close(): void
}

/** Certificates and a private key in PEM. */
interface TlsFiles {
  /** The authorities that the server's certificate must come from. */
  readonly ca?: Buffer
  /** The certificate that the client shows, with its private key. */
  readonly cert?: Buffer
  readonly key?: Buffer
}

export interface HttpClientOptions {
  /** Resolves host names. Default: the resolver of the system. */
  readonly lookup?: LookupFunction
  /** Throws for a URL that the client must not use. Default: the client asks every url. */
  readonly checkUrl?: (url: URL) => void
  /**
   * The longest body that is read in full, in bytes; `post` rejects a longer one. Default: the client reads
   * only the beginning.
   */
  readonly wholeBodyBytes?: number
  /** The memory for all bodies that are being read in full. Default: no limit except that of each body. */
  readonly budget?: ByteBudget
  /** The certificates of TLS. Default: the authorities of Node.js, and no client certificate. */
  readonly tls?: TlsFiles
  /** Idle connections per host that are kept for the next request. Default 8. */
  readonly idleSockets?: number
}

/** The client keeps this many headers of an answer, and this many characters of each. */
const MAX_HEADERS = 50
const MAX_HEADER_LENGTH = 500

const DEFAULT_IDLE_SOCKETS = 8

/**
 * Informational answers (1xx) of one request. Each costs work and none ends the request, so an endless series
 * would take a processor.
 */
const MAX_INFORMATIONAL = 16

/**
 * An idle connection is closed after this time, in ms, or a second before the server's `Keep-Alive: timeout`
 * ends. Servers of Go and Node.js close theirs after 5 s, those of Go (stellar-rpc) without a word before;
 * with more, requests meet closed connections. Load balancers drop idle connections silently after a minute
 * or more.
 */
const IDLE_MS = 4_000

/**
 * Creates a client that reuses connections. It does not follow redirects: only the configured URL is used.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { lookup, checkUrl, wholeBodyBytes, budget, tls, idleSockets = DEFAULT_IDLE_SOCKETS } = options
  const settings = {
    keepAlive: true,
    timeout: IDLE_MS,
    maxFreeSockets: idleSockets,
    ...(lookup && { lookup }),
  }
  const agentsOf = (change: AgentOptions): Agents => ({
    http: new HttpAgent({ ...settings, ...change }),
    https: new HttpsAgent({ ...settings, ...tls, ...change }),
  })
  const agents = agentsOf({})
  // Every other kept connection may be closed as well.
  const fresh = agentsOf({ keepAlive: false })
  const body = wholeBodyBytes === undefined ? BEGINNING : wholeBody(wholeBodyBytes, budget)
  const targetOf = createTargets(checkUrl)
  return {
    post: async (request) => {
      const target = targetOf(request.url)
      const openBy = (used: Agents) => (how: RequestOptions) =>
        target.protocol === 'https:'
          ? httpsRequest({ ...target, ...how, agent: used.https })
          : httpRequest({ ...target, ...how, agent: used.http })
      const startedAt = performance.now()
      let isDropped = false
      const onDropped = () => {
        isDropped = true
      }
      try {
        return await exchange({ open: openBy(agents), body, onDropped }, request)
      } catch (error) {
        if (!isDropped || request.isRepeatable !== true) throw error
        const timeoutMs = Math.max(1, request.timeoutMs - (performance.now() - startedAt))
        return exchange({ open: openBy(fresh), body }, { ...request, timeoutMs })
      }
    },
    close: () => {
      for (const agent of [...Object.values(agents), ...Object.values(fresh)]) agent.destroy()
    },
  }
}

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

/** The number of parsed urls that are kept. */
const MAX_TARGETS = 100

/** Parses and checks urls. Most requests go to a few of them, again and again, so it keeps their targets. */
function createTargets(checkUrl: HttpClientOptions['checkUrl']): (url: string) => RequestOptions {
  const known = new BoundedMap<string, RequestOptions>(MAX_TARGETS)
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const url = new URL(text)
    checkUrl?.(url)
    const target = targetAt(url)
    known.set(text, target)
    return target
  }
}

/**
 * Only what a request needs, in a plain object: Node.js copies the options of each request, and those of
 * `urlToHttpOptions` slowly.
 */
function targetAt(url: URL): RequestOptions {
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(url)
  return { protocol, hostname, port, path, ...(auth && { auth }) }
}

interface Exchange {
  readonly open: (options: RequestOptions) => ClientRequest
  readonly body: BodyReader
  /** The request failed because its kept connection had been closed: no answer has begun. */
  readonly onDropped?: () => void
}

/** Codes of Node.js for a connection that the other side has closed. */
const CLOSED: readonly unknown[] = ['ECONNRESET', 'EPIPE']

async function exchange(
  { open, body: { headers: accept, read }, onDropped }: Exchange,
  { method = 'POST', headers, body, timeoutMs, limits }: PostRequest,
): Promise<PostAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>()
  const outgoing = open({
    method,
    headers: {
      ...accept,
      ...headers,
      ...(method !== 'GET' && { 'content-length': String(Buffer.byteLength(body)) }),
    },
  })
  // The timeout applies regardless of the other side.
  const timer = setTimeout(() => {
    const late = new DOMException(`no complete answer within ${timeoutMs} ms`, 'TimeoutError')
    reject(late)
    outgoing.destroy(late)
  }, timeoutMs)
  const readAnswer = async (response: IncomingMessage): Promise<PostAnswer> => {
    const status = knownStatus(response)
    const text = await read(response, limits)
    return { status, headers: readHeaders(response), body: text }
  }
  let isAnswered = false
  outgoing.on('response', (response) => {
    isAnswered = true
    readAnswer(response).then(resolve, reject)
  })
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (outgoing.reusedSocket && !isAnswered && CLOSED.includes(error.code)) onDropped?.()
    reject(error)
  })
  // Node hands the connection over, and neither an answer nor an error of the request follows.
  outgoing.on('upgrade', (response, socket) => {
    socket.destroy()
    reject(new Error(`the server answered with status ${response.statusCode}`))
  })
  limitInformational(outgoing)
  outgoing.end(body)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

/** Destroys the request when more informational answers arrive than any server has a reason to send. */
function limitInformational(outgoing: ClientRequest): void {
  let count = 0
  outgoing.on('information', () => {
    count += 1
    if (count > MAX_INFORMATIONAL)
      outgoing.destroy(new Error(`the server sent more than ${MAX_INFORMATIONAL} informational answers`))
  })
}

/**
 * Statuses have three digits and begin with 1 to 5 (RFC 9110, section 15). Records and the contract know no
 * others.
 */
function knownStatus(response: IncomingMessage): number {
  const { statusCode = 0 } = response
  if (statusCode >= 100 && statusCode <= 599) return statusCode
  response.destroy()
  throw new Error(`the server answered with status ${statusCode}`)
}

function readHeaders({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).slice(0, MAX_HEADERS)
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value).slice(0, MAX_HEADER_LENGTH)]))
}

/** A way to read the body of an answer. */
interface BodyReader {
  /** Headers that request a body which `read` understands. */
  readonly headers: Readonly<Record<string, string>>
  /** Ends the connection when it rejects. */
  readonly read: (response: IncomingMessage, limits?: BodyLimits) => Promise<string>
}

/** The limits of one body that is read in full. */
interface BodyLimits {
  /** The longest body, in bytes. The limit of the client counts as well. */
  readonly bytes: number
  /** Sees each part before the next one is read. Throws to stop the reading. */
  readonly inspect?: (chunk: Uint8Array) => void
}

/**
 * The client reads this much of a body whose beginning is enough, in bytes: people read it to find a fault.
 */
const BEGINNING_BYTES = 16_384

/**
 * Stops reading at the limit, which closes the connection. The text must fit a database, which stores no NUL
 * character.
 */
const BEGINNING: BodyReader = {
  headers: {},
  // By events: an iterator would cost more than the rest of a request with an empty answer.
  read: (response) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      const end = () => resolve(decodeBeginning(chunks))
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size < BEGINNING_BYTES) return
        end()
        response.destroy()
      })
      response.on('end', end)
      response.on('error', reject)
      // An error has a stack, which takes long to make, and `close` follows every answer.
      response.on('close', () => {
        if (!response.readableEnded) reject(new Error('the answer ended early'))
      })
    }),
}

function decodeBeginning(chunks: readonly Buffer[]): string {
  if (chunks.length === 0) return ''
  const bytes = Buffer.concat(chunks).subarray(0, BEGINNING_BYTES)
  return new TextDecoder().decode(bytes).replaceAll('\u0000', '\ufffd')
}

/** Accepts gzip, because nodes answer batches with megabytes of JSON. The limits count decompressed bytes. */
function wholeBody(limit: number, budget?: ByteBudget): BodyReader {
  return {
    headers: { 'accept-encoding': 'gzip' },
    read: async (response, limits = { bytes: limit }) => {
      const chunks: Buffer[] = []
      const take = counter({ ...limits, bytes: Math.min(limit, limits.bytes) })
      // The caller parses the text in the same turn in which it gets it, so the share can end with the read.
      const share = budget?.open()
      try {
        for await (const chunk of decompress(response) as AsyncIterable<Buffer>) {
          take(chunk)
          share?.take(chunk.length)
          chunks.push(chunk)
        }
        return new TextDecoder().decode(Buffer.concat(chunks))
      } finally {
        share?.close()
      }
    },
  }
}

function counter({ bytes, inspect }: BodyLimits): (chunk: Buffer) => void {
  let size = 0
  return (chunk) => {
    size += chunk.length
    if (size > bytes) throw new AnswerTooLargeError(`the answer has more than ${bytes} bytes`)
    inspect?.(chunk)
  }
}

function decompress(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // The loop that reads the decompressed stream receives every error, so the callback has nothing to do.
  return pipeline(response, createGunzip(), () => {})
}

/** A longer wish is read as this one, in ms: nothing here waits for more than a day. */
const MAX_MS = 86_400_000

/** The three forms of HTTP-date (RFC 9110, section 5.6.7). `Date.parse` would accept much else as a date. */
const DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
]
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/**
 * Reads the header `Retry-After` (RFC 9110, section 10.2.3): whole seconds, or an HTTP-date. Returns ms from
 * `now`, a day at most; undefined for anything else.
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : readDate(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(MAX_MS, Math.max(0, ms))
}

/** Ms since the epoch; NaN for no date. */
function readDate(text: string): number {
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`)
  return DATES.some((form) => form.test(text)) ? Date.parse(text) : Number.NaN
}
