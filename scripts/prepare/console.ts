import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assetWriter, bundleForBrowser } from './browser-assets.ts'
import { hashOfSources, OF_CONSOLE } from './current-program.mjs'
import { licencesOf } from './licences.ts'

/** Builds the console into `dist/console`, unless it is there and current. The names of its assets change with their content. */
export async function prepareConsole(root: string): Promise<void> {
  const target = join(root, 'dist/console')
  const mark = join(root, 'dist/console.sha256')
  const hash = hashOfSources(root, OF_CONSOLE)
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) return
  const { code, modules } = await bundleForBrowser(root, PROGRAM)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(join(target, 'assets'), { recursive: true })
  const writeAsset = assetWriter(target, '/console')
  const script = writeAsset({ name: 'console', extension: 'js', content: code })
  const style = writeAsset({ name: 'console', extension: 'css', content: joinStyles(root) })
  writeAsset({ name: 'licences', extension: 'txt', content: licencesOf(modules) })
  const index = readFileSync(join(root, 'console/index.html'), 'utf8')
  writeFileSync(join(target, 'index.html'), index.replace('{script}', script).replace('{style}', style))
  writeFileSync(mark, hash)
}

const PROGRAM = { input: 'console/src/main.tsx', format: 'esm', jsx: 'preact' } as const

/** Joins the style sheets in the order of their names, without comments and indents. */
function joinStyles(root: string): string {
  const folder = join(root, 'console/styles')
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, '\n')
}
