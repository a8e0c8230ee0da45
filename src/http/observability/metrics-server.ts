import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { preferredType } from '../answers/preferred-type.ts'
import { close, listen } from '../connections/listening.ts'
import { createHostCheck, type HostCheck } from './host-check.ts'
import { type MetricsPage, readMetricsPath } from './metrics-paths.ts'

/** Metrics as text, with the media type of the text. */
interface MetricsText {
  readonly contentType: string
  readonly body: string
}

/** Reads the metrics of this process. */
export interface MetricsReader {
  read(): Promise<MetricsText>
  names(): readonly string[]
  /** Returns undefined for a name that no metric has. */
  readOne(name: string): Promise<MetricsText | undefined>
}

interface MetricsServerOptions {
  readonly host: string
  /** 0 selects any free port. */
  readonly port: number
  readonly metrics: MetricsReader
  /** Names by which scrapers may ask, besides those that no page on the internet can have. Default: none. */
  readonly hostNames?: readonly string[]
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
 * Serves the operations of the tag Metrics to everybody who reaches the port, as scrapers expect. The pages hold numbers and the names of
 * relayers, networks, hosts and notifications; the network around the service limits its readers, and the check of `Host` keeps browsers in that
 * network from reading them for a page on the internet. Failures are plain text.
 */
export function createMetricsServer({
  host,
  port,
  metrics,
  hostNames = [],
  log,
}: MetricsServerOptions): MetricsServer {
  const isMeant = createHostCheck(hostNames)
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    respond({ metrics, log, isMeant }),
  )
  server.maxConnections = MAX_CONNECTIONS
  return { listen: () => listen(server, { host, port }), close: () => close(server) }
}

interface Responder extends Pick<MetricsServerOptions, 'metrics' | 'log'> {
  readonly isMeant: HostCheck
}

function respond({ metrics, log, isMeant }: Responder): RequestListener {
  return async (request, response) => {
    if (!isMeant(request.headers.host)) return sendText(response, 421, MISDIRECTED)
    const { method = '' } = request
    const page = readMetricsPath(request.url?.split('?', 1)[0] ?? '')
    if (page === undefined) return sendText(response, 404, 'Not found\n')
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD')
      return sendText(response, 405, 'Method not allowed\n')
    }
    try {
      const found = await readPage(metrics, page, request.headers.accept ?? '')
      if (found === undefined) return sendText(response, 404, 'Metric not found\n')
      response.setHeader('Content-Type', found.contentType)
      sendText(response, 200, found.body)
    } catch (error) {
      log.error({ err: error }, 'metrics not rendered')
      sendText(response, 500, 'Internal Server Error\n')
    }
  }
}

/** RFC 9110 §15.5.20. The name stays out of the text, because the sender chose it. */
const MISDIRECTED =
  'Misdirected Request: this Host could be that of a page on the internet. Ask by an IP address, or name the host in RELAYER_METRICS_HOSTS.\n'

/** Callers that prefer JSON get the names. */
async function readPage(
  metrics: MetricsReader,
  page: MetricsPage,
  accept: string,
): Promise<MetricsText | undefined> {
  if (page.kind === 'one') return metrics.readOne(page.name)
  const isText = page.kind === 'text' || preferredType(accept, ['text/plain', JSON_TYPE]) !== JSON_TYPE
  if (isText) return metrics.read()
  return { contentType: `${JSON_TYPE}; charset=utf-8`, body: JSON.stringify(metrics.names()) }
}

const JSON_TYPE = 'application/json'

/** Node omits the body of an answer to HEAD. */
function sendText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}
