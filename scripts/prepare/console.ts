import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOfSources, OF_CONSOLE } from './current-program.mjs'
import { licencesOf } from './licences.ts'

/** Builds the console into `dist/console`, unless it is there and current. The names of its assets change with their content. */
export async function prepareConsole(root: string): Promise<void> {
  const target = join(root, 'dist/console')
  const mark = join(root, 'dist/console.sha256')
  const hash = hashOfSources(root, OF_CONSOLE)
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) return
  const { code, modules } = await bundleScript(root)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(join(target, 'assets'), { recursive: true })
  const script = writeAsset(target, { name: 'console', extension: 'js', content: code })
  const style = writeAsset(target, { name: 'console', extension: 'css', content: joinStyles(root) })
  writeAsset(target, { name: 'licences', extension: 'txt', content: licencesOf(modules) })
  const index = readFileSync(join(root, 'console/index.html'), 'utf8')
  writeFileSync(join(target, 'index.html'), index.replace('{script}', script).replace('{style}', style))
  writeFileSync(mark, hash)
}

async function bundleScript(root: string): Promise<{ code: string; modules: readonly string[] }> {
  // The package is imported here, because an installation without development dependencies has none.
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    cwd: root,
    input: join(root, 'console/src/main.tsx'),
    platform: 'browser',
    // The build needs no configuration of TypeScript, which an image does not have.
    tsconfig: false,
    transform: { target: 'es2022', jsx: { runtime: 'automatic', importSource: 'preact' } },
    // A package that no one has installed must not end as an import that fails in the browser.
    onLog: (level, log, report) => {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
      report(level, log)
    },
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  const [chunk] = output
  return { code: chunk.code, modules: chunk.moduleIds }
}

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

interface Asset {
  readonly name: string
  readonly extension: string
  readonly content: string
}

/** Returns the path under which the service serves the asset. */
function writeAsset(target: string, { name, extension, content }: Asset): string {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10)
  const file = `assets/${name}-${hash}.${extension}`
  writeFileSync(join(target, file), content)
  return `/console/${file}`
}
