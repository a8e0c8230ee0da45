import type { Logger } from 'pino'
import type { CompiledContract } from '../contract/compile.ts'
import type { AppError } from '../errors.ts'
import type { Clock } from '../lib/time.ts'
import type { FindKey } from './auth.ts'
import type { SocketEndpoint } from './connections/sockets/endpoint.ts'
import type { NetworkOfRelayer, RedeemTicket } from './guards.ts'
import type { HandlerMap } from './handler.ts'
import type { RequestObserver, RequestTracer } from './observability/observe-requests.ts'
import type { RateLimiter } from './rate-limit.ts'

/** The parts and settings of the HTTP server. */
export interface HttpServerOptions extends CompiledContract {
  readonly handlers: HandlerMap
  /** The bearer tokens of the environment. */
  readonly apiKeys: readonly string[]
  readonly findKey: FindKey
  /** People sign in to the console with a provider. Default: no. */
  readonly signIn?: SignInPages | undefined
  readonly networkOf: NetworkOfRelayer
  readonly redeemTicket: RedeemTicket
  /** The origins whose pages may read event streams. Default: none but the service's own. */
  readonly corsOrigins?: readonly string[]
  /** Serves the console at `/console`. Default: no. */
  readonly serveConsole?: boolean
  /** Short paths, by their first segment. Default: none. */
  readonly mounts?: ReadonlyMap<string, Mount>
  readonly host: string
  /** 0 selects any free port. */
  readonly port: number
  /** `DEFAULT_LIMITS` completes absent limits. */
  readonly limits?: Partial<Limits>
  /** The addresses and networks of proxies in front of the service. Default: none. */
  readonly trustedProxies?: readonly string[]
  readonly limiter: RateLimiter
  /** Returns the failure for a fault outside this process, such as the database's. Default: none. */
  readonly explainFault?: (fault: unknown) => AppError | undefined
  /** Checks every answer against the contract; a mismatch is logged and answered with 500. */
  readonly validateResponses: boolean
  /** Absent if metrics are off. */
  readonly observer?: RequestObserver | undefined
  /** Absent if traces are off. */
  readonly tracer?: RequestTracer | undefined
  readonly log: Logger
  readonly clock: Clock
}

/** The reason why someone is not signed in. */
interface SignInRefusal {
  readonly kind: 'refused' | 'invalid' | 'unavailable'
  /** A sentence for the person. */
  readonly message: string
}

/** The sign-in of people, as its pages and the check of their cookie need it. */
export interface SignInPages {
  /** The name of the provider on the button. */
  readonly name: string
  /** The origin of the service for browsers. */
  readonly publicUrl: string
  /** The path to which the provider sends browsers back. */
  readonly callbackPath: string
  readonly sessionSeconds: number
  /** Returns the url of the provider, and what the browser must bring back. */
  begin(): Promise<{ readonly url: string; readonly pending: string } | SignInRefusal>
  /** Begins a session, and returns its secret. */
  finish(callback: {
    readonly querystring: string
    readonly pending: string | undefined
    /** The secret of a session that the browser has already. */
    readonly previous: string | undefined
    readonly address: string
    readonly userAgent: string
    readonly requestId: string
  }): Promise<{ readonly secret: string } | SignInRefusal>
  /** Finds the person of a session by the hash of its secret, as `findKey` does for keys. */
  readonly findSession: FindKey
}

/** A short path for a longer one. */
export interface Mount {
  /** The path that replaces the first segment, with a slash at both ends. */
  readonly prefix: string
  /** Callers need no API key. With one, they need its scope, as on the longer path. */
  readonly isOpen: boolean
  /** The origins whose pages may call it (CORS); `*` is every page. */
  readonly corsOrigins: readonly string[]
  /** Absent if it accepts no WebSockets. */
  readonly sockets?: SocketEndpoint | undefined
}

/** The limits of one request. Times are in milliseconds, sizes in bytes. */
export interface Limits {
  /** Request body. Default 1 MiB. */
  readonly bodyBytes: number
  /** Nesting of arrays and objects. Default 32. */
  readonly jsonDepth: number
  /**
   * Values of a body. A larger number would block the event loop for longer than other callers should wait.
   * Default 20,000.
   */
  readonly jsonValues: number
  /** Request line and headers together. Default 16 KiB. */
  readonly headerBytes: number
  /** Time from the first byte of a connection to the end of the headers. Default 10 s. */
  readonly headersTimeoutMs: number
  /** Time from the headers to the answer, including the arrival of the body. Default 30 s. */
  readonly requestTimeoutMs: number
  /**
   * Life of an idle connection that has shown a valid key. It exceeds the usual 60 s of load balancers, which
   * must close first. Default 65 s.
   */
  readonly keepAliveTimeoutMs: number
  /** Life of an idle connection that has not shown a valid key. Default 5 s. */
  readonly unauthenticatedKeepAliveMs: number
  /**
   * Number of open connections; for one more, the server closes the least recently used unauthenticated one.
   * Default 4096.
   */
  readonly maxConnections: number
  /**
   * Number of connections of one peer that have not shown a valid key. If absent, a quarter of
   * `maxConnections`.
   */
  readonly connectionsPerPeer?: number | undefined
  /**
   * Time between two signs of life of a WebSocket; one that gives none for this long, and as long again, is
   * ended. Default 30 s.
   */
  readonly socketPingMs: number
}

/** The default limits suit a service behind a load balancer. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 1_048_576,
  jsonDepth: 32,
  jsonValues: 20_000,
  headerBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  unauthenticatedKeepAliveMs: 5_000,
  maxConnections: 4_096,
  socketPingMs: 30_000,
}
