import Router from '@koa/router'
import type { DefaultContext } from 'koa'
import type { Page } from '../../contract/docs.ts'
import { answerOptions, MethodNotAllowedError } from '../answers/method-not-allowed.ts'
import type { HttpContext, Middleware, State } from '../state.ts'
import { createPageForms } from './page-forms.ts'

const METHODS = ['GET', 'HEAD', 'OPTIONS']

/** Lets the reference page load from this host only. Redoc writes its styles into the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

/** A browser keeps the program of the page under its plain address for this time, in seconds. */
const PLAIN_AGE_SECONDS = 3_600

interface DocumentationOptions {
  readonly pages: readonly Page[]
  /** Counts a request against the rate limit of its sender. */
  readonly count: (context: HttpContext) => void
}

/**
 * Serves the pages of the documentation to everybody within the rate limit, and redirects `/` to them. @koa/router routes the paths that
 * the contract does not have; the contract itself routes the operations.
 */
export function documentation({ pages, count }: DocumentationOptions): Middleware {
  const router = new Router<State, DefaultContext>()
  router.use((context, next) => {
    count(context)
    return next()
  })
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

function sendPage(page: Page): Middleware {
  const formFor = createPageForms(page)
  return async function sendPage(context) {
    const { encoding, body, etag } = await formFor((name) => context.acceptsEncodings(name) === name)
    context.status = 200
    context.set({ 'Content-Type': page.mediaType, ETag: etag, 'Cache-Control': cacheControl(page, context) })
    context.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    context.vary('Accept-Encoding')
    if (encoding !== undefined) context.set('Content-Encoding', encoding)
    if (context.fresh) context.status = 304
    else context.body = body
  }
}

function cacheControl({ version, versioned }: Page, { query }: HttpContext): string {
  if (!versioned) return 'no-cache'
  return query.v === version ? 'public, max-age=31536000, immutable' : `public, max-age=${PLAIN_AGE_SECONDS}`
}
