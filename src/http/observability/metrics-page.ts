import Router from '@koa/router'
import type { DefaultContext } from 'koa'
import { MethodNotAllowedError } from '../answers/method-not-allowed.ts'
import type { Guard } from '../documentation/page-guard.ts'
import type { Middleware, State } from '../state.ts'

/** Renders the metrics as text, with the media type of the text. */
export type MetricsReader = () => Promise<{ readonly contentType: string; readonly body: string }>

interface MetricsPageOptions {
  readonly read: MetricsReader
  readonly guard: Guard
}

/** Existing scrapers use the second path. Neither is in the contract, because Prometheus defines the format of the page. */
const PATHS = ['/metrics', '/api/v1/metrics']

const METHODS = ['GET', 'HEAD']

/** Serves the metrics to callers with an API key. @koa/router routes the paths that the contract does not have. */
export function metricsPage({ read, guard }: MetricsPageOptions): Middleware {
  const router = new Router<State, DefaultContext>({ sensitive: true, strict: true })
  router.all(PATHS, async (context) => {
    guard(context)
    if (!METHODS.includes(context.method)) throw new MethodNotAllowedError(METHODS)
    const { contentType, body } = await read()
    context.status = 200
    context.set({ 'Content-Type': contentType, 'Cache-Control': 'no-store' })
    context.body = body
  })
  return router.routes() as Middleware
}
