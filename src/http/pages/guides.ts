import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { type Page, page } from '../../contract/docs.ts'
import { AppError } from '../../errors.ts'
import { builtFile } from '../../lib/package-files.ts'
import type { HttpContext, Middleware } from '../state.ts'
import { publicPaths, sendPage } from './pages.ts'

/** Lets the guides load from this host only: no inline script or style, no frame, no form. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const FOR_EVER = 'public, max-age=31536000, immutable'

/**
 * `npm run build` makes the guides here: a page for each document, pictures, and assets whose names change
 * with their content.
 */
const GUIDES_FOLDER = builtFile('guides')

const BASE = '/docs/guides'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

interface GuidesOptions {
  readonly files: readonly string[]
  readonly folder?: string
  /** Counts a request against the rate limit of its sender. */
  readonly count: (context: HttpContext) => void
}

/** Lists the files of the guides; none without a build. */
export async function listGuideFiles(folder: string = GUIDES_FOLDER): Promise<readonly string[]> {
  try {
    const names = await readdir(folder, { recursive: true })
    return names
      .map((name) => name.replaceAll('\\', '/'))
      .filter((name) => MEDIA_TYPES[extname(name)] !== undefined)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/**
 * Serves the guides without authentication, within the rate limit. A file is read when it is first asked for,
 * and only files that were there at the start are: no path of a request reaches the disk.
 */
export function serveGuides({ files, folder = GUIDES_FOLDER, count }: GuidesOptions): Middleware {
  const senders = new Map(files.map((file) => [addressOf(file), senderOf(join(folder, file), file)]))
  const serve: Middleware = (context, next) => {
    const send = senders.get(context.path)
    if (send === undefined) throw new AppError('not_found', 'There is no such page of the guides.')
    return send(context, next)
  }
  return publicPaths({
    paths: new Map([
      [BASE, serve],
      [`${BASE}/{*path}`, serve],
    ]),
    count,
  })
}

/** Pages have no ending in their address. */
function addressOf(file: string): string {
  if (file === 'index.html') return BASE
  return `${BASE}/${file.replace(/\.html$/, '')}`
}

function senderOf(path: string, file: string): Middleware {
  const mediaType = MEDIA_TYPES[extname(file)] ?? 'application/octet-stream'
  const cacheControl = file.startsWith('assets/') ? FOR_EVER : 'no-cache'
  let send: Middleware | undefined
  return (context, next) => {
    send ??= sendPage(readPage({ path, file, mediaType }), {
      contentSecurityPolicy: CONTENT_SECURITY_POLICY,
      cacheControl: () => cacheControl,
    })
    return send(context, next)
  }
}

interface GuideFile {
  readonly path: string
  readonly file: string
  readonly mediaType: string
}

function readPage({ path, file, mediaType }: GuideFile): Page {
  const content = readFileSync(path)
  return page(addressOf(file), mediaType, mediaType === 'image/png' ? content : content.toString('utf8'))
}
