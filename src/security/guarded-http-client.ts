import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { type AddressPolicy, checkLiteral, guardedLookup } from './guarded-lookup.ts'

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** From the first byte to the last, the connection included. */
  readonly timeoutMs: number
}

/** The answer, whatever its status. */
export interface PostAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, as far as it may go. */
  readonly body: string
}

/** Posts to urls that somebody else chose. */
export interface GuardedHttpClient {
  /** Rejects when there is no complete answer: refused, reset, too late, or an address that is not allowed. */
  post(request: PostRequest): Promise<PostAnswer>
  /** Ends the connections. */
  close(): void
}

export interface GuardedHttpClientOptions {
  /** The longest body that is read of an answer, in bytes; `post` rejects when there is more. Absent: a beginning is enough. */
  readonly wholeBodyBytes?: number
  /** Idle connections per host that are kept for the next request. Default 8. */
  readonly idleSockets?: number
}

/** More of an answer whose beginning is enough is not read, in bytes: it is for people who look for a fault. */
const BEGINNING_BYTES = 16_384

/** Headers of an answer that are kept, and the length of each. */
const MAX_HEADERS = 50
const MAX_HEADER_LENGTH = 500

const DEFAULT_IDLE_SOCKETS = 8

/** Connections are reused. Redirects are an answer like any other: whoever was configured is who is told. */
export function createGuardedHttpClient(
  policy: AddressPolicy,
  options: GuardedHttpClientOptions = {},
): GuardedHttpClient {
  const { wholeBodyBytes, idleSockets = DEFAULT_IDLE_SOCKETS } = options
  const settings = { keepAlive: true, maxFreeSockets: idleSockets, lookup: guardedLookup(policy) }
  const agents = { 'http:': new HttpAgent(settings), 'https:': new HttpsAgent(settings) }
  const read = wholeBodyBytes === undefined ? readBeginning : readWhole(wholeBodyBytes)
  return {
    post: async (request) => {
      const url = new URL(request.url)
      checkLiteral(url, policy)
      const open = (how: Settings) =>
        url.protocol === 'https:'
          ? httpsRequest(url, { ...how, agent: agents['https:'] })
          : httpRequest(url, { ...how, agent: agents['http:'] })
      return exchange({ open, read }, request)
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

interface Settings {
  readonly method: 'POST'
  readonly headers: Record<string, string>
  readonly signal: AbortSignal
}

interface Ways {
  readonly open: (settings: Settings) => ReturnType<typeof httpRequest>
  readonly read: (response: IncomingMessage) => Promise<string>
}

async function exchange(
  { open, read }: Ways,
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
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal: late.signal,
    })
    outgoing.on('response', (response) => answerOf(response, read).then(resolve, reject))
    outgoing.on('error', reject)
    outgoing.end(body)
    return await promise
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

async function answerOf(response: IncomingMessage, read: Ways['read']): Promise<PostAnswer> {
  const body = await read(response)
  return { status: response.statusCode ?? 0, headers: headersOf(response), body }
}

/** Stops reading at the limit, which costs the connection. */
async function readBeginning(response: IncomingMessage): Promise<string> {
  const { bytes } = await collect(response, BEGINNING_BYTES)
  return printable(bytes.subarray(0, BEGINNING_BYTES))
}

function readWhole(limit: number): Ways['read'] {
  return async (response) => {
    // One more than may be, so that one too many is seen.
    const { bytes, size } = await collect(response, limit + 1)
    if (size > limit) throw new Error(`the answer has more than ${limit} bytes`)
    return new TextDecoder().decode(bytes)
  }
}

async function collect(response: IncomingMessage, enough: number): Promise<{ bytes: Buffer; size: number }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= enough) break
  }
  return { bytes: Buffer.concat(chunks), size }
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).slice(0, MAX_HEADERS)
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value).slice(0, MAX_HEADER_LENGTH)]))
}

/** Text as a database can keep it: it has no room for the character NUL. */
function printable(body: Buffer): string {
  return new TextDecoder().decode(body).replaceAll('\u0000', '\ufffd')
}
