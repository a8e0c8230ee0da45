import Router from '@koa/router'
import type { DefaultContext } from 'koa'
import type { Page } from '../contract/docs.ts'
import { answerOptions, MethodNotAllowedError } from './answers/method-not-allowed.ts'
import type { Middleware, State } from './state.ts'

const METHODS = ['GET', 'HEAD', 'OPTIONS']

/** Lets the reference page load from this host only. Redoc writes its styles into the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

/**
 * Serves the pages of the documentation to everybody, and redirects `/` to them. @koa/router routes the paths that the
 * contract does not have; the contract itself routes the operations.
 */
export function documentation(pages: readonly Page[]): Middleware {
  const router = new Router<State, DefaultContext>()
  router.get('/', (context) => context.redirect('/docs'))
  for (const page of pages) router.get(page.path, sendPage(page))
  for (const path of ['/', ...pages.map((page) => page.path)]) {
    router.options(path, (context) => answerOptions(context, METHODS))
    router.all(path, () => {
      throw new MethodNotAllowedError(METHODS)
    })
  }
  return router.routes() as Middleware
}

function sendPage({ mediaType, body, etag }: Page): Middleware {
  return function sendPage(context) {
    context.status = 200
    context.set({ 'Content-Type': mediaType, ETag: etag, 'Cache-Control': 'no-cache' })
    context.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    if (context.fresh) context.status = 304
    else context.body = body
  }
}
