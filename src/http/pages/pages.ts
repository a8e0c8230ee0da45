import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import Router from '@koa/router'
import type { DefaultContext } from 'koa'
import type { Page } from '../../contract/docs.ts'
import { methodNotAllowed } from '../../errors.ts'
import { answerOptions } from '../answers/failure.ts'
import { type Authenticate, requireCredential } from '../auth.ts'
import { countRequest } from '../guards.ts'
import type { RateLimiter } from '../rate-limit.ts'
import type { Guard, HttpContext, Middleware, State } from '../state.ts'

/** The part of an answer that depends on more than the page. */
interface PageHeaders {
  readonly contentSecurityPolicy: string
  /** Returns `Cache-Control` for a request. */
  readonly cacheControl: (context: HttpContext) => string
}

/**
 * Creates the middleware that sends a page: compressed as its reader likes, and not again to a reader who has
 * it.
 */
export function sendPage(page: Page, { contentSecurityPolicy, cacheControl }: PageHeaders): Middleware {
  const formFor = createPageForms(page)
  return async function sendPage(context) {
    const { encoding, body, etag } = await formFor((name) => context.acceptsEncodings(name) === name)
    context.status = 200
    context.set({ 'Content-Type': page.mediaType, ETag: etag, 'Cache-Control': cacheControl(context) })
    context.set('Content-Security-Policy', contentSecurityPolicy)
    context.vary('Accept-Encoding')
    if (encoding !== undefined) context.set('Content-Encoding', encoding)
    if (context.fresh) context.status = 304
    else context.body = body
  }
}

/** The encodings in the order of preference. */
const ENCODINGS = ['br', 'gzip'] as const

type Encoding = (typeof ENCODINGS)[number]

/** A page as it is sent. */
interface PageForm {
  readonly encoding: Encoding | undefined
  readonly body: Buffer
  /** The strong validator of these bytes, with its quotes. */
  readonly etag: string
}

/** The highest quality takes seconds of CPU for one or two per cent. */
const BROTLI_QUALITY = 9

const COMPRESS: Readonly<Record<Encoding, (body: string | Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body) => promisify(gzip)(body),
}

/**
 * Returns the encoding of a page that a reader accepts. Each is created once, on first use; until then the
 * page is not read, because its body may have to be created as well.
 */
function createPageForms(page: Page): (accepts: (encoding: string) => boolean) => Promise<PageForm> {
  const forms = new Map<Encoding, Promise<PageForm>>()
  const make = async (encoding: Encoding): Promise<PageForm> => ({
    encoding,
    body: await COMPRESS[encoding](page.body),
    etag: `"${page.version}-${encoding}"`,
  })
  // One copy for all readers: a text would be encoded again for each connection that does not read.
  let plain: PageForm | undefined
  return async (accepts) => {
    const encoding = ENCODINGS.find(accepts)
    if (encoding === undefined) {
      const { body, version } = page
      plain ??= { encoding, body: typeof body === 'string' ? Buffer.from(body) : body, etag: `"${version}"` }
      return plain
    }
    const form = forms.get(encoding) ?? make(encoding)
    forms.set(encoding, form)
    return form
  }
}

/** Creates the guard from the same keys and buckets that the operations use. */
export function createGuard(authenticate: Authenticate, limiter: RateLimiter): Guard {
  return (context) => {
    const caller = authenticate(context)
    countRequest(limiter, { context, key: caller.limitKey })
    requireCredential(caller)
  }
}

const METHODS = ['GET', 'HEAD', 'OPTIONS']

interface PublicPaths {
  /** Answers GET of each path. The paths have the syntax of @koa/router. */
  readonly paths: ReadonlyMap<string, Middleware>
  /** Counts a request against the rate limit of its sender. */
  readonly count: (context: HttpContext) => void
}

/**
 * Serves paths without authentication, within the rate limit, and refuses the methods that they do not have.
 * @koa/router routes the paths that the contract does not have; the contract itself routes the operations.
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
      throw methodNotAllowed(METHODS)
    })
  }
  return router.routes() as Middleware
}
