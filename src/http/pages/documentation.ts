import type { Page } from '../../contract/docs.ts'
import { AppError } from '../../errors.ts'
import type { HttpContext, Middleware } from '../state.ts'
import { publicPaths, sendPage } from './pages.ts'

/**
 * Lets the reference page load from this host only. Redoc writes its styles into the page, and searches in a
 * worker that it writes itself.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; worker-src blob:; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

/** A browser keeps the program of the page under its plain address for this time, in seconds. */
const PLAIN_AGE_SECONDS = 3_600

interface DocumentationOptions {
  readonly pages: readonly Page[]
  /** Counts a request against the rate limit of its sender. */
  readonly count: (context: HttpContext) => void
}

/**
 * Serves the pages of the documentation without authentication, within the rate limit, and redirects `/` to
 * them.
 */
export function documentation({ pages, count }: DocumentationOptions): Middleware {
  const named = new Set(pages.map((page) => page.path))
  const paths = new Map<string, Middleware>([['/', (context) => context.redirect('/docs')]])
  for (const path of named) paths.set(path, choosePage(pages.filter((page) => page.path === path)))
  return publicPaths({ paths, count })
}

/**
 * Sends the page of a path that the query parameter `profile` names.
 *
 * @throws AppError `invalid_request` if there is none
 */
function choosePage(pages: readonly Page[]): Middleware {
  const senders = new Map(pages.map((page) => [page.profile, sendPage(page, headersOf(page))]))
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

function headersOf(page: Page) {
  return {
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    cacheControl: (context: HttpContext) => cacheControl(page, context),
  }
}

function cacheControl({ version, versioned }: Page, { query }: HttpContext): string {
  if (!versioned) return 'no-cache'
  return query.v === version ? 'public, max-age=31536000, immutable' : `public, max-age=${PLAIN_AGE_SECONDS}`
}
