import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHttpClient, type HttpClient } from '../../src/lib/http/http-client.ts'

/** A request, with its whole body. */
export interface ServiceRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An answer in JSON. */
export interface ServiceAnswer {
  readonly status: number
  readonly body: object
  readonly headers?: Record<string, string>
}

/** A server that the tests run in place of a service. */
export interface HttpService {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a server on a free port. A handler that throws lets it answer 500 with the message, so that a test shows the reason. */
export async function startHttpService(
  handle: (request: ServiceRequest) => ServiceAnswer | Promise<ServiceAnswer>,
): Promise<HttpService> {
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('')
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://localhost')
    const { method = '', headers } = request
    const answer = await Promise.resolve({ method, path, query, headers, body: text })
      .then(handle)
      .catch((error: unknown): ServiceAnswer => ({ status: 500, body: { fault: String(error) } }))
    response
      .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
      .end(JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The longest answer of a service, in bytes. */
const MAX_ANSWER_BYTES = 256 * 1024

/** Creates a client that asks a server of the tests in place of these origins, and no one else. */
export function createRoutedClient(routes: Readonly<Record<string, () => string>>): HttpClient {
  const client = createHttpClient({ wholeBodyBytes: MAX_ANSWER_BYTES, idleSockets: 50 })
  return {
    close: client.close,
    post: async (request) => {
      const { origin } = new URL(request.url)
      const route = routes[origin]
      if (route === undefined) throw new Error(`The tests have no server for ${origin}.`)
      return client.post({ ...request, url: `${route()}${request.url.slice(origin.length)}` })
    },
  }
}
