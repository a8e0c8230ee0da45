import type { Peers } from '../connections/peer.ts'
import { PENDING_COOKIE, readCookie, removeCookie, SESSION_COOKIE, setCookie } from '../cookies.ts'
import type { SignInPages } from '../server-options.ts'
import type { HttpContext, Middleware } from '../state.ts'
import { publicPaths } from './pages.ts'

/** The time that a person has at the provider, in seconds. */
const PENDING_SECONDS = 600

const STATUS = { refused: 403, invalid: 400, unavailable: 400 } as const

interface SignInOptions {
  readonly signIn: SignInPages
  readonly peers: Peers
  /** Counts a request against the rate limit of its sender. */
  readonly count: (context: HttpContext) => void
}

/**
 * Serves the two paths that a browser visits to sign in: the way to the provider, and the way back. Neither
 * takes an address to go to, so nothing can send a browser elsewhere.
 */
export function signInPages({ signIn, peers, count }: SignInOptions): Middleware {
  const start: Middleware = async (context) => {
    isolate(context)
    const begun = await signIn.begin()
    if ('kind' in begun) return sendRefusal(context, begun)
    setCookie(context, PENDING_COOKIE, { value: begun.pending, seconds: PENDING_SECONDS })
    redirect(context, begun.url)
  }
  const finish: Middleware = async (context) => {
    isolate(context)
    // A callback is good for one try, whatever comes of it.
    removeCookie(context, PENDING_COOKIE)
    const finished = await signIn.finish({
      querystring: context.querystring,
      pending: readCookie(context, PENDING_COOKIE),
      previous: readCookie(context, SESSION_COOKIE),
      address: peers.ofRequest(context.req),
      userAgent: context.get('User-Agent'),
      requestId: context.state.requestId,
    })
    if ('kind' in finished) return sendRefusal(context, finished)
    setCookie(context, SESSION_COOKIE, { value: finished.secret, seconds: signIn.sessionSeconds })
    redirect(context, `${signIn.publicUrl}/console`)
  }
  const paths = new Map<string, Middleware>([
    [SIGN_IN_PATH, start],
    [signIn.callbackPath, finish],
  ])
  return publicPaths({ paths, count })
}

/** The path at which a sign-in begins. */
export const SIGN_IN_PATH = '/auth/sign-in'

/** Keeps the code in the address from caches, other hosts and pages that opened this one. */
function isolate(context: HttpContext): void {
  context.set({
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Content-Security-Policy':
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  })
}

function redirect(context: HttpContext, url: string): void {
  context.status = 303
  context.set('Location', url)
  context.type = 'text/plain; charset=utf-8'
  context.body = 'See the header Location.'
}

function sendRefusal(
  context: HttpContext,
  { kind, message }: { readonly kind: keyof typeof STATUS; readonly message: string },
): void {
  context.status = STATUS[kind]
  context.type = 'text/html; charset=utf-8'
  context.body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>Not signed in</title></head>
<body>
<h1>You are not signed in</h1>
<p>${escapeHtml(message)}</p>
<p>The log of the service has the reason under the request id ${escapeHtml(context.state.requestId)}.</p>
<p><a href="/console">Back to the console</a></p>
</body>
</html>
`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Writes a text into HTML, also as the value of an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
