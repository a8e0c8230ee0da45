import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hashOfSources } from './current-program.mjs'
import { renderSite } from './guides/site.ts'
import { BASE, OF_GUIDES } from './guides/sources.ts'
import { licencesOf } from './licences.ts'

/** Builds the guides into `dist/guides`, unless they are there and current: pages, pictures, and the program of the search. */
export async function prepareGuides(root: string): Promise<void> {
  const target = join(root, 'dist/guides')
  const mark = join(root, 'dist/guides.sha256')
  // A package has its documents and no sources; nothing is built from it.
  if (OF_GUIDES.some((path) => !existsSync(join(root, path)))) return
  const hash = hashOfSources(root, [...OF_GUIDES, 'scripts/prepare', 'package-lock.json'])
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) return
  const [{ site }, program] = await Promise.all([renderSite(root), bundleSearch(root)])
  rmSync(target, { recursive: true, force: true })
  mkdirSync(join(target, 'assets'), { recursive: true })
  const style = readFileSync(join(root, 'scripts/prepare/guides/browser/style.css'), 'utf8')
  const { entries } = site(NO_ASSETS)
  const { pages } = site({
    script: writeAsset(target, { name: 'search', extension: 'js', content: program.code }),
    style: writeAsset(target, { name: 'guides', extension: 'css', content: style }),
    entries: writeAsset(target, { name: 'sections', extension: 'json', content: JSON.stringify(entries) }),
  })
  writeAsset(target, { name: 'licences', extension: 'txt', content: licencesOf(program.modules) })
  for (const [file, html] of pages) write(join(target, file), html)
  for (const picture of globSync('**/*.{png,svg}', { cwd: join(root, 'docs') }))
    copyFileSync(join(root, 'docs', picture), join(target, picture))
  writeFileSync(mark, hash)
}

const NO_ASSETS = { script: '', style: '', entries: '' }

async function bundleSearch(root: string): Promise<{ code: string; modules: readonly string[] }> {
  // The package is imported here, because an installation without development dependencies has none.
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    cwd: root,
    input: join(root, 'scripts/prepare/guides/browser/search.ts'),
    platform: 'browser',
    tsconfig: false,
    transform: { target: 'es2022' },
    onLog: (level, log, report) => {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
      report(level, log)
    },
  })
  const { output } = await bundle.generate({ format: 'iife', minify: true })
  const [chunk] = output
  return { code: chunk.code, modules: chunk.moduleIds }
}

function write(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

interface Asset {
  readonly name: string
  readonly extension: string
  readonly content: string
}

/** Returns the path under which the service serves the asset; it changes with the content. */
function writeAsset(target: string, { name, extension, content }: Asset): string {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10)
  const file = `assets/${name}-${hash}.${extension}`
  writeFileSync(join(target, file), content)
  return `${BASE}/${file}`
}
