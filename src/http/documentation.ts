import Router from '@koa/router'
import type { DefaultContext } from 'koa'
import type { Page } from '../contract/docs.ts'
import { methodNotAllowed } from './method-not-allowed.ts'
import type { Middleware, State } from './state.ts'

const METHODS = ['GET', 'HEAD', 'OPTIONS']

/** The reference page may load from this host only; Redoc writes its styles into the page. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Serves the pages of the documentation to everybody, and leads a browser that asks for `/` to them. */
export function documentation(pages: readonly Page[]): Middleware {
  const routes = createRouter(pages).routes() as Middleware
  return function documentation(context, next) {
    // The operations of the contract are routed by the contract; nothing of theirs is looked for here.
    return context.path.startsWith('/api/') ? next() : routes(context, next)
  }
}

function createRouter(pages: readonly Page[]): Router<State, DefaultContext> {
  const router = new Router<State, DefaultContext>()
  router.get('/', (context) => context.redirect('/docs'))
  for (const { path, mediaType, body, etag } of pages) {
    router.get(path, (context) => {
      context.status = 200
      context.set({ 'Content-Type': mediaType, ETag: etag, 'Cache-Control': 'no-cache' })
      context.set('Content-Security-Policy', POLICY)
      if (context.fresh) context.status = 304
      else context.body = body
    })
  }
  for (const path of ['/', ...pages.map((page) => page.path)]) {
    router.options(path, (context) => {
      context.status = 204
      context.set('Allow', METHODS.join(', '))
    })
    router.all(path, () => {
      throw methodNotAllowed(METHODS)
    })
  }
  return router
}
