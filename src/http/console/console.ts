import type { Page } from '../../contract/docs.ts'
import { AppError } from '../../errors.ts'
import { publicPaths } from '../documentation/public-paths.ts'
import { sendPage } from '../documentation/send-page.ts'
import type { HttpContext, Middleware } from '../state.ts'
import type { ConsoleFiles } from './console-files.ts'

/** Lets the console load and call this host alone, and lets nobody write script or style into it, send its forms, or frame it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const FOR_EVER = 'public, max-age=31536000, immutable'

interface ConsoleOptions {
  readonly files: ConsoleFiles
  /** Counts a request against the rate limit of its sender. */
  readonly count: (context: HttpContext) => void
}

/**
 * Serves the console to everybody within the rate limit: it has nothing but code, and every operation that it calls needs an API key. Each path
 * below `/console` that is no file is the page itself.
 */
export function serveConsole({ files: { index, assets }, count }: ConsoleOptions): Middleware {
  const sendIndex = isolated(send(index, 'no-cache'))
  const sendAsset = new Map(assets.map((asset) => [asset.path, send(asset, FOR_EVER)]))
  const choose: Middleware = (context, next) => {
    // The page in the place of a file of an earlier release would be taken for a program.
    if (context.path.startsWith('/console/assets/') && !sendAsset.has(context.path))
      throw new AppError('not_found', 'This release of the console has no such file. Load the page again.')
    return (sendAsset.get(context.path) ?? sendIndex)(context, next)
  }
  const paths = new Map<string, Middleware>([
    ['/console', sendIndex],
    ['/console/{*path}', choose],
  ])
  return publicPaths({ paths, count })
}

function send(page: Page, cacheControl: string): Middleware {
  return sendPage(page, { contentSecurityPolicy: CONTENT_SECURITY_POLICY, cacheControl: () => cacheControl })
}

/** Keeps addresses of the console from other hosts, and its window from pages that opened it. */
function isolated(send: Middleware): Middleware {
  return function isolated(context, next) {
    context.set({ 'Referrer-Policy': 'no-referrer', 'Cross-Origin-Opener-Policy': 'same-origin' })
    return send(context, next)
  }
}
