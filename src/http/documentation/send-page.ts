import type { Page } from '../../contract/docs.ts'
import type { HttpContext, Middleware } from '../state.ts'
import { createPageForms } from './page-forms.ts'

/** The part of an answer that depends on more than the page. */
interface PageHeaders {
  readonly contentSecurityPolicy: string
  /** Gives `Cache-Control` for a request. */
  readonly cacheControl: (context: HttpContext) => string
}

/** Creates the middleware that sends a page: compressed as its reader likes, and not again to a reader who has it. */
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
