import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { type Page, page } from '../../contract/docs.ts'
import { AppError } from '../../errors.ts'
import { builtFile, readIfThere } from '../../lib/package-files.ts'
import type { SignInPages } from '../server-options.ts'
import type { HttpContext, Middleware } from '../state.ts'
import { publicPaths, sendPage } from './pages.ts'
import { escapeHtml, SIGN_IN_PATH } from './sign-in.ts'

/**
 * Lets the console load from and call only this host, and forbids inline scripts and styles, forms, and
 * framing.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const FOR_EVER = 'public, max-age=31536000, immutable'

interface ConsoleOptions {
  readonly files: ConsoleFiles
  /** The provider with which people can sign in; absent if there is none. */
  readonly signIn?: Pick<SignInPages, 'name' | 'publicUrl'> | undefined
  /** Counts a request against the rate limit of its sender. */
  readonly count: (context: HttpContext) => void
}

/**
 * Serves the console without authentication, within the rate limit: it contains only code, and every
 * operation that it calls needs an API key. Each path below `/console` that is not a file is the page itself.
 */
export function serveConsole({ files: { index, assets }, signIn, count }: ConsoleOptions): Middleware {
  const sendIndex = isolated(send(signIn ? withSignIn(index, signIn) : index, 'no-cache'))
  const sendAsset = new Map(assets.map((asset) => [asset.path, send(asset, FOR_EVER)]))
  const choose: Middleware = (context, next) => {
    // The page in the place of a file of an earlier release would be taken for a program.
    if (context.path.startsWith('/console/assets/') && !sendAsset.has(context.path))
      throw new AppError('not_found', 'This release of the console does not have this file. Reload the page.')
    return (sendAsset.get(context.path) ?? sendIndex)(context, next)
  }
  const paths = new Map<string, Middleware>([
    ['/console', sendIndex],
    ['/console/{*path}', choose],
  ])
  return publicPaths({ paths, count })
}

/** Tells the console where people sign in, before it asks anything. */
function withSignIn({ body }: Page, { name, publicUrl }: Pick<SignInPages, 'name' | 'publicUrl'>): Page {
  const url = escapeHtml(publicUrl + SIGN_IN_PATH)
  const tag = `<meta name="sign-in" content="${escapeHtml(name)}" data-url="${url}">`
  return page(
    '/console',
    HTML,
    String(body).replace('<head>', () => `<head>\n${tag}`),
  )
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

/**
 * `npm run build` makes the console here: `index.html`, and `assets` with files whose names change with their
 * content.
 */
const CONSOLE_FOLDER = builtFile('console')

const HTML = 'text/html; charset=utf-8'
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/** The console as it is sent. */
interface ConsoleFiles {
  readonly index: Page
  /** The files that the index loads. A browser may keep them for ever. */
  readonly assets: readonly Page[]
}

/** Reads the console. Without a build, its page says how to create one. */
export async function readConsoleFiles(folder: string = CONSOLE_FOLDER): Promise<ConsoleFiles> {
  const html = await readIfThere(join(folder, 'index.html'))
  if (html === undefined) return { index: page('/console', HTML, BARE_PAGE), assets: [] }
  const names = await readdir(join(folder, 'assets'))
  const assets = names.map(async (name) => {
    const mediaType = MEDIA_TYPES[extname(name)] ?? 'application/octet-stream'
    return page(`/console/assets/${name}`, mediaType, await readFile(join(folder, 'assets', name), 'utf8'))
  })
  return { index: page('/console', HTML, html), assets: await Promise.all(assets) }
}

const BARE_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Relayer console</title></head>
<body><p>This installation was built without the console. <code>npm ci</code> and <code>npm run build</code> make it.</p></body>
</html>
`
