import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { type AddressPolicy, checkLiteral, guardedLookup } from './lookup.ts'

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
  /** The beginning of the body, at most `MAX_BODY_BYTES`. */
  readonly body: string
}

/** Posts to urls that somebody else chose. */
export interface Poster {
  /** Rejects when there is no complete answer: refused, reset, too late, or an address that is not allowed. */
  post(request: PostRequest): Promise<PostAnswer>
  /** Ends the connections. */
  close(): void
}

/** More of an answer is not read: it is for people who look for a fault. */
const MAX_BODY_BYTES = 16_384

/** Headers of an answer that are kept, and the length of each. */
const MAX_HEADERS = 50
const MAX_HEADER_LENGTH = 500

/** Idle connections per host that are kept for the next request. */
const IDLE_SOCKETS = 8

/** Connections are reused. Redirects are an answer like any other: whoever was configured is who is told. */
export function createPoster(policy: AddressPolicy): Poster {
  const options = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS, lookup: guardedLookup(policy) }
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) }
  return {
    post: async (request) => {
      const url = new URL(request.url)
      checkLiteral(url, policy)
      if (url.protocol === 'https:')
        return exchange((settings) => httpsRequest(url, { ...settings, agent: agents['https:'] }), request)
      return exchange((settings) => httpRequest(url, { ...settings, agent: agents['http:'] }), request)
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

async function exchange(
  open: (settings: Settings) => ReturnType<typeof httpRequest>,
  { headers, body, timeoutMs }: PostRequest,
): Promise<PostAnswer> {
  const late = new AbortController()
  const timer = setTimeout(
    () => late.abort(new Error(`no complete answer within ${timeoutMs} ms`)),
    timeoutMs,
  )
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>()
  try {
    const outgoing = open({
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal: late.signal,
    })
    outgoing.on('response', (response) => readAnswer(response).then(resolve, reject))
    outgoing.on('error', reject)
    outgoing.end(body)
    return await promise
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

/** Stops reading at the limit, which costs the connection. */
async function readAnswer(response: IncomingMessage): Promise<PostAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MAX_BODY_BYTES) break
  }
  const body = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES)
  return { status: response.statusCode ?? 0, headers: headersOf(response), body: printable(body) }
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).slice(0, MAX_HEADERS)
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value).slice(0, MAX_HEADER_LENGTH)]))
}

/** Text as a database can keep it: it has no room for the character NUL. */
function printable(body: Buffer): string {
  return new TextDecoder().decode(body).replaceAll('\u0000', '\ufffd')
}
