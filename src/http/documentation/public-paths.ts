import Router from '@koa/router'
import type { DefaultContext } from 'koa'
import { answerOptions, MethodNotAllowedError } from '../answers/method-not-allowed.ts'
import type { HttpContext, Middleware, State } from '../state.ts'

const METHODS = ['GET', 'HEAD', 'OPTIONS']

interface PublicPaths {
  /** Answers GET of each path. The paths have the syntax of @koa/router. */
  readonly paths: ReadonlyMap<string, Middleware>
  /** Counts a request against the rate limit of its sender. */
  readonly count: (context: HttpContext) => void
}

/**
 * Serves paths to everybody within the rate limit, and refuses the methods that they do not have. @koa/router routes the paths that the
 * contract does not have; the contract itself routes the operations.
 */
export function publicPaths({ paths, count }: PublicPaths): Middleware {
  const router = new Router<State, DefaultContext>()
  router.use((context, next) => {
    count(context)
    return next()
  })
  for (const [path, serve] of paths) router.get(path, serve)
  for (const path of paths.keys()) {
    router.options(path, (context) => answerOptions(context, METHODS))
    router.all(path, () => {
      throw new MethodNotAllowedError(METHODS)
    })
  }
  return router.routes() as Middleware
}
