import type { Logger } from 'pino'
import type { CompiledContract } from '../contract/compile.ts'
import type { HandlerMap } from '../contract/operations.ts'
import type { AppError } from '../errors.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { RedeemTicket } from './admit.ts'
import type { FindKey } from './auth.ts'
import type { Limits } from './limits.ts'
import type { RequestObserver } from './observability/observe-requests.ts'
import type { RequestTracer } from './observability/trace-requests.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { NetworkOfRelayer } from './require-access.ts'

/** The parts and settings of the HTTP server. */
export interface HttpServerOptions extends CompiledContract {
  readonly handlers: HandlerMap
  /** The bearer tokens of the environment. */
  readonly apiKeys: readonly string[]
  readonly findKey: FindKey
  readonly networkOf: NetworkOfRelayer
  readonly redeemTicket: RedeemTicket
  /** The origins whose pages may read event streams. Default: none but the service's own. */
  readonly corsOrigins?: readonly string[]
  /** Serves the console at `/console`. Default: no. */
  readonly serveConsole?: boolean
  readonly host: string
  /** 0 selects any free port. */
  readonly port: number
  /** `DEFAULT_LIMITS` completes absent limits. */
  readonly limits?: Partial<Limits>
  /** The addresses and networks of proxies in front of the service. Default: none. */
  readonly trustedProxies?: readonly string[]
  readonly limiter: RateLimiter
  /** Gives the failure for a fault of something outside this process, such as the database. Default: there is none. */
  readonly explainFault?: (fault: unknown) => AppError | undefined
  /** Checks every answer against the contract; a mismatch is logged and answered with 500. */
  readonly validateResponses: boolean
  /** Absent when metrics are off. */
  readonly observer?: RequestObserver | undefined
  /** Absent when traces are off. */
  readonly tracer?: RequestTracer | undefined
  readonly log: Logger
  readonly clock: Clock
}
