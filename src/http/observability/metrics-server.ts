import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { close, listen } from '../connections/listening.ts'
import type { MetricsReader } from './metrics-page.ts'

interface MetricsServerOptions {
  readonly host: string
  /** 0 selects any free port. */
  readonly port: number
  readonly read: MetricsReader
  readonly log: Logger
}

/** A server that serves the metrics only. */
export interface MetricsServer {
  /** Rejects when the port is in use. */
  listen(): Promise<{ host: string; port: number }>
  close(): Promise<void>
}

/** A scraper sends one line and a few headers, and reads at once. A longer limit would only help slow attackers. */
const REQUEST_TIMEOUT_MS = 5_000

/** A deployment has few scrapers. More connections would take file descriptors from the API. */
const MAX_CONNECTIONS = 16

/**
 * Serves `/metrics` to everybody who reaches the port, as scrapers expect. The page holds numbers and the names of relayers,
 * networks and notifications; the network around the service limits its readers.
 */
export function createMetricsServer({ host, port, read, log }: MetricsServerOptions): MetricsServer {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    respond(read, log),
  )
  server.maxConnections = MAX_CONNECTIONS
  return { listen: () => listen(server, { host, port }), close: () => close(server) }
}

function respond(read: MetricsReader, log: Logger): RequestListener {
  return async ({ method = '', url = '' }, response) => {
    if (url.split('?', 1)[0] !== '/metrics') return sendText(response, 404, 'Not found\n')
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD')
      return sendText(response, 405, 'Method not allowed\n')
    }
    try {
      const { contentType, body } = await read()
      response.setHeader('Content-Type', contentType)
      sendText(response, 200, body)
    } catch (error) {
      log.error({ err: error }, 'metrics not rendered')
      sendText(response, 500, 'Internal Server Error\n')
    }
  }
}

/** Node omits the body of an answer to HEAD. */
function sendText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}
