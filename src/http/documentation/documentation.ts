import Router from '@koa/router'
import type { DefaultContext } from 'koa'
import type { Page } from '../../contract/docs.ts'
import { AppError } from '../../errors.ts'
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
  const paths = new Set(pages.map((page) => page.path))
  for (const path of paths) router.get(path, choosePage(pages.filter((page) => page.path === path)))
  for (const path of ['/', ...paths]) {
    router.options(path, (context) => answerOptions(context, METHODS))
    router.all(path, () => {
      throw new MethodNotAllowedError(METHODS)
    })
  }
  return router.routes() as Middleware
}

/**
 * Sends the page of a path that the query parameter `profile` names.
 *
 * @throws AppError `invalid_request` when there is none
 */
function choosePage(pages: readonly Page[]): Middleware {
  const senders = new Map(pages.map((page) => [page.profile, sendPage(page)]))
  return function choosePage(context, next) {
    const { profile } = context.query
    const send = Array.isArray(profile) ? undefined : senders.get(profile)
    if (send !== undefined) return send(context, next)
    const known = pages.flatMap((page) => page.profile ?? [])
    throw new AppError(
      'invalid_request',
      `query.profile: expected ${known.join(' or ') || 'it to be absent'}.`,
    )
  }
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
