import type { Caller } from './auth.ts'
import { methodNotAllowed } from './method-not-allowed.ts'
import { type RateLimiter, rateLimited } from './rate-limit.ts'
import type { Middleware } from './state.ts'

/** The metrics as text, and of which type it is. */
export type MetricsReader = () => Promise<{ readonly contentType: string; readonly body: string }>

interface MetricsPageOptions {
  readonly read: MetricsReader
  readonly authenticate: (authorization: string | undefined) => Caller
  readonly limiter: RateLimiter
}

/** Existing scrapers ask for the second. Neither is in the contract: what stands there is Prometheus's, not ours. */
const PATHS = ['/metrics', '/api/v1/metrics']

const METHODS = ['GET', 'HEAD']

/** Serves the metrics to those who have an API key. */
export function metricsPage({ read, authenticate, limiter }: MetricsPageOptions): Middleware {
  return async function metricsPage(context, next) {
    if (!PATHS.includes(context.path)) return next()
    const caller = authenticate(context.headers.authorization)
    const known = caller.kind === 'known'
    const seconds = limiter.take(known ? `key ${caller.key}` : `peer ${context.req.socket.remoteAddress}`)
    if (seconds > 0) throw rateLimited(seconds)
    if (!known) throw caller.problem
    if (!METHODS.includes(context.method)) throw methodNotAllowed(METHODS)
    const { contentType, body } = await read()
    context.status = 200
    context.set({ 'Content-Type': contentType, 'Cache-Control': 'no-store' })
    context.body = body
  }
}
