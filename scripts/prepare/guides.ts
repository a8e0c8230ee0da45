import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assetWriter, bundleForBrowser } from './browser-assets.ts'
import { hashOfSources } from './current-program.mjs'
import { renderSite } from './guides/site.ts'
import { BASE, OF_GUIDES } from './guides/sources.ts'
import { licencesOf } from './licences.ts'

/**
 * Builds the guides into `dist/guides`, unless they are there and current: pages, pictures, and the program
 * of the search.
 */
export async function prepareGuides(root: string): Promise<void> {
  const target = join(root, 'dist/guides')
  const mark = join(root, 'dist/guides.sha256')
  // A package has its documents and no sources; nothing is built from it.
  if (OF_GUIDES.some((path) => !existsSync(join(root, path)))) return
  const hash = hashOfSources(root, [...OF_GUIDES, 'scripts/prepare', 'package-lock.json'])
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) return
  const [{ site }, program] = await Promise.all([renderSite(root), bundleForBrowser(root, PROGRAM)])
  rmSync(target, { recursive: true, force: true })
  mkdirSync(join(target, 'assets'), { recursive: true })
  const style = readFileSync(join(root, 'scripts/prepare/guides/browser/style.css'), 'utf8')
  const writeAsset = assetWriter(target, BASE)
  const { entries } = site(NO_ASSETS)
  const { pages } = site({
    script: writeAsset({ name: 'search', extension: 'js', content: program.code }),
    style: writeAsset({ name: 'guides', extension: 'css', content: style }),
    entries: writeAsset({ name: 'sections', extension: 'json', content: JSON.stringify(entries) }),
  })
  writeAsset({ name: 'licences', extension: 'txt', content: licencesOf(program.modules) })
  for (const [file, html] of pages) write(join(target, file), html)
  for (const picture of globSync('**/*.{png,svg}', { cwd: join(root, 'docs') }))
    copyFileSync(join(root, 'docs', picture), join(target, picture))
  writeFileSync(mark, hash)
}

const NO_ASSETS = { script: '', style: '', entries: '' }

const PROGRAM = { input: 'scripts/prepare/guides/browser/search.ts', format: 'iife' } as const

function write(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
