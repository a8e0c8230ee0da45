import { Agent, request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'

/** A request that is sent as it is: `fetch` would repair some, and joins headers of one name. */
export interface RawRequest {
  readonly url: string
  readonly method: string
  /** The request target, which may be no url. */
  readonly path: string
  /** Names and values in turn; a name may occur twice. */
  readonly headers: readonly string[]
  readonly body?: string | undefined
}

/** The answer; status 0 when the connection ended without one. */
export interface RawAnswer {
  readonly status: number
  readonly text: string
}

/** An answer that pauses for this long, in ms, is over: an event stream would go on for ever. */
const IDLE_MS = 10_000

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

/** Sends the request and reads the whole answer. */
export function sendRaw({ url, method, path, headers, body }: RawRequest): Promise<RawAnswer> {
  const { host, hostname, port } = new URL(url)
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
  const all = ['Host', host, ...headers, ...length]
  return new Promise((resolve) => {
    const request = httpRequest({ agent, hostname, port, method, path, headers: all }, (response) => {
      text(response).then(
        (content) => resolve({ status: response.statusCode ?? 0, text: content }),
        (error: Error) => resolve({ status: response.statusCode ?? 0, text: error.message }),
      )
    })
    request.setTimeout(IDLE_MS, () => request.destroy())
    request.on('error', (error) => resolve({ status: 0, text: error.message }))
    request.end(body)
  })
}
