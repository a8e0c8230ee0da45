import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { preferredType } from '../answers/send.ts'
import { close, listen } from '../connections/connections.ts'

/** Metrics as text, with the media type of the text. */
interface MetricsText {
  readonly contentType: string
  readonly body: string
}

/** Reads the metrics of this process. */
interface MetricsReader {
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
  /** Host names that scrapers may use, besides those that no web page can have. Default: none. */
  readonly hostNames?: readonly string[]
  readonly log: Logger
}

/** A server that serves the metrics only. */
interface MetricsServer {
  /** Rejects when the port is in use. */
  listen(): Promise<{ host: string; port: number }>
  close(): Promise<void>
}

/**
 * A scraper sends one line and a few headers, and reads immediately. A longer limit would only help slow
 * attackers.
 */
const REQUEST_TIMEOUT_MS = 5_000

/** A deployment has few scrapers. More connections would take file descriptors from the API. */
const MAX_CONNECTIONS = 16

/**
 * Serves the operations of the tag Metrics without authentication, as scrapers expect. The pages contain
 * numbers and the names of relayers, networks, hosts and notifications; the network around the service limits
 * the readers, and the check of `Host` keeps browsers in that network from reading them for a web page.
 * Failures are plain text.
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
  'Misdirected Request: this Host could be that of a web page. Use an IP address, or list the host in RELAYER_METRICS_HOSTS.\n'

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

/** Returns whether a `Host` header was really meant for this service. */
type HostCheck = (host: string | undefined) => boolean

/**
 * Endings of names that no public name server answers for: of Kubernetes services, of the clouds' internal
 * names (`internal` is reserved for that by ICANN), and of the machine itself (RFC 6761).
 */
const PRIVATE_ENDINGS = ['.svc', '.cluster.local', '.internal', '.localhost']

/** Allows every name. */
const EVERY_NAME = '*'

/**
 * Creates the check against DNS rebinding: a page in a browser inside the network requests its own host name,
 * which now resolves to the service, and could then read the response. The browser sends that name, and the
 * page's owner can only own public names. So it accepts IP addresses, names without a dot (as Docker and
 * Kubernetes give them), private endings, the name of this machine, and the names of the operator. HTTP/1.0
 * may omit the header, which no browser does.
 */
function createHostCheck(names: readonly string[], own: string = hostname()): HostCheck {
  const allowed = new Set([...names, own].map((name) => name.toLowerCase()))
  return (host) => {
    if (host === undefined || allowed.has(EVERY_NAME)) return true
    const name = nameOf(host)
    return (
      allowed.has(name) ||
      isIP(name) !== 0 ||
      !name.includes('.') ||
      PRIVATE_ENDINGS.some((ending) => name.endsWith(ending))
    )
  }
}

/**
 * Returns the name of a `Host` header in lower case, without its port, the brackets of IPv6, and a dot at the
 * end.
 */
function nameOf(host: string): string {
  const [, address] = /^\[([^\]]*)\](?::[0-9]*)?$/.exec(host) ?? []
  return (
    address ??
    host
      .replace(/:[0-9]*$/, '')
      .replace(/\.$/, '')
      .toLowerCase()
  )
}

/**
 * The paths of the metrics without the prefix of the contract: Prometheus and clients of OpenZeppelin Relayer
 * use these.
 */
const BARE = /^\/(?:metrics(?:\/|$)|debug\/metrics\/scrape(?:\/|$))/

const PREFIX = '/api/v1'

/**
 * Returns the path as the contract has it: that of the metrics with the prefix, and any other path unchanged.
 */
export function contractPath(path: string): string {
  return BARE.test(path) ? `${PREFIX}${path}` : path
}

/** A page of metrics: all of them, or their names when the caller prefers those; all as text; or one. */
type MetricsPage = { readonly kind: 'all' | 'text' } | { readonly kind: 'one'; readonly name: string }

/** Reads the path of a page; undefined for any other path. */
function readMetricsPath(path: string): MetricsPage | undefined {
  const wanted = contractPath(path)
  if (wanted === `${PREFIX}/metrics`) return { kind: 'all' }
  if (wanted === `${PREFIX}/debug/metrics/scrape`) return { kind: 'text' }
  const [, name] = /^\/api\/v1\/metrics\/([a-zA-Z_:][a-zA-Z0-9_:]*)$/.exec(wanted) ?? []
  return name === undefined ? undefined : { kind: 'one', name }
}
