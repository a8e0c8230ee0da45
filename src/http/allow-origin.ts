import type { HttpContext } from './state.ts'

/** Headers of answers that a page of another origin may read besides the usual ones. */
const EXPOSED = 'Retry-After, X-Request-Id'

/**
 * Lets pages of these origins read the answer (CORS). Without any, browsers keep it from every page of another origin. Requests with
 * credentials of a browser are not allowed, because the service has no cookies.
 */
export function createOriginCheck(origins: readonly string[]): (context: HttpContext) => void {
  const allowed = new Set(origins)
  return (context) => {
    if (allowed.size === 0) return
    // A cache must not give the answer for one origin to another.
    context.vary('Origin')
    const origin = context.get('Origin')
    if (!allowed.has(origin)) return
    context.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED })
  }
}
