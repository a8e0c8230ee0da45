import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Program {
  /** The path of the entry file, relative to the root. */
  readonly input: string
  readonly format: 'esm' | 'iife'
  /** The package whose `jsx` is used; absent without JSX. */
  readonly jsx?: string
}

/** Bundles a program for browsers. `modules` are the files that it consists of. */
export async function bundleForBrowser(
  root: string,
  { input, format, jsx }: Program,
): Promise<{ code: string; modules: readonly string[] }> {
  // The package is imported here, because an installation without development dependencies has none.
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    cwd: root,
    input: join(root, input),
    platform: 'browser',
    // The build needs no configuration of TypeScript, which an image does not have.
    tsconfig: false,
    transform: {
      target: 'es2022',
      ...(jsx !== undefined && { jsx: { runtime: 'automatic', importSource: jsx } }),
    },
    // A package that no one has installed must not end as an import that fails in the browser.
    onLog: (level, log, report) => {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
      report(level, log)
    },
  })
  const { output } = await bundle.generate({ format, minify: true })
  const [chunk] = output
  return { code: chunk.code, modules: chunk.moduleIds }
}

interface Asset {
  readonly name: string
  readonly extension: string
  readonly content: string
}

/** Returns the writer of assets into `target`, which the service serves below `base`. */
export function assetWriter(target: string, base: string): (asset: Asset) => string {
  return ({ name, extension, content }) => {
    // The name changes with the content, so that browsers can keep an asset permanently.
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10)
    const file = `assets/${name}-${hash}.${extension}`
    writeFileSync(join(target, file), content)
    return `${base}/${file}`
  }
}
