import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Page } from '../../contract/docs.ts'
import { builtFile } from '../../lib/package-root.ts'
import { readIfThere } from '../../lib/read-if-there.ts'

/** `npm run build` makes the console here: `index.html`, and `assets` with files whose names change with their content. */
const CONSOLE_FOLDER = builtFile('console')

const HTML = 'text/html; charset=utf-8'
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/** The console as it is sent. */
export interface ConsoleFiles {
  readonly index: Page
  /** The files that the index loads. A browser may keep them for ever. */
  readonly assets: readonly Page[]
}

/** Reads the console. Without a build, its page says how to make one. */
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

function page(path: string, mediaType: string, body: string): Page {
  const version = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  return { path, mediaType, body, version, versioned: false }
}

const BARE_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Relayer console</title></head>
<body><p>This installation was built without the console. <code>npm ci</code> and <code>npm run build</code> make it.</p></body>
</html>
`
