import type { HttpContext } from './state.ts'

/**
 * The cookie with the secret of a session. `__Host-` makes browsers refuse it without `Secure`, with a
 * domain, and from another host, so no neighbouring host can set it. Over plain http, browsers take it from
 * this machine only.
 */
export const SESSION_COOKIE = '__Host-relayer-session'

/** The cookie that a browser brings back from the provider. */
export const PENDING_COOKIE = '__Host-relayer-sign-in'

/**
 * No page of another site can send it, because browsers would ask the service first, which allows nothing.
 */
const CSRF_HEADER = 'x-csrf-protection'

/**
 * Reads a cookie; undefined if it is absent, or if there are several: one of them would be someone else's.
 */
export function readCookie({ headers }: Pick<HttpContext, 'headers'>, name: string): string | undefined {
  const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=')
    return pair.slice(0, Math.max(0, at)).trim() === name ? [pair.slice(at + 1).trim()] : []
  })
  return values.length === 1 ? values[0] : undefined
}

/**
 * Sets a cookie that no script reads. `Lax`, because the way back from the provider begins at another site,
 * and `Strict` would lose the cookie there.
 */
export function setCookie(
  context: HttpContext,
  name: string,
  { value, seconds }: { readonly value: string; readonly seconds: number },
): void {
  const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${seconds}`, 'Secure', 'HttpOnly', 'SameSite=Lax']
  context.append('Set-Cookie', parts.join('; '))
}

/** Removes a cookie from the browser. */
export function removeCookie(context: HttpContext, name: string): void {
  setCookie(context, name, { value: '', seconds: 0 })
}

/** Methods that change nothing. Browsers leave `Origin` out of them. */
const READS = ['GET', 'HEAD']

/**
 * Returns true for a request that a page of this origin made with the console's header. The cookie alone
 * never counts: a browser sends it with requests that other pages cause.
 */
export function isFromConsole({ headers, method }: HttpContext, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers
  if (headers[CSRF_HEADER] !== '1' || site !== 'same-origin') return false
  return origin === publicUrl || (origin === undefined && READS.includes(method))
}
