import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../lib/fields.ts'
import { builtFile, isMissingPackage } from '../lib/package-files.ts'
import type { PluginConfig } from './plugin.ts'

/** The code of a plugin in one file, with the part of the service that runs beside it. */
export interface PluginBundle {
  readonly file: string
  /** Removes the file. */
  remove(): void
}

/** Bytes of a bundle. Larger ones start slowly and are almost certainly a mistake. */
const MAX_BUNDLE_BYTES = 32 * 1024 * 1024

/** The packages whose imports a file of ours replaces where they are not installed. */
const SDK =
  /^@openzeppelin\/relayer-sdk$|^multichain-relayer-client\/plugin$|^\.\.?\/(.*\/)?lib\/plugin(\.ts)?$/

/** The part of the service that runs in the process of a plugin: the build has it as one file, and a clone as sources. */
interface Runtime {
  readonly main: string
  readonly sdk: string
}

/**
 * Bundles the code of a plugin, with the packages that it imports, into one file of a new folder. TypeScript is not checked, only translated.
 * @throws ConfigError with the reason for a plugin that does not compile, or an installation without the bundler
 */
export async function bundlePlugin({ id, path }: PluginConfig, file: string): Promise<PluginBundle> {
  const { rolldown } = await import('rolldown').catch((error: unknown) => {
    if (!isMissingPackage(error, 'rolldown')) throw error
    throw new ConfigError(['plugins need the package rolldown, which is not installed: npm install rolldown'])
  })
  const runtime = runtimeFiles()
  const entry = join(dirname(file), '\0entry')
  const code = await rolldown({
    input: entry,
    cwd: dirname(file),
    platform: 'node',
    tsconfig: false,
    // A warning of the bundler is for the author of a package. A module that does not exist must not end as a failure in the middle of a call.
    onLog: (_level, log) => {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
    },
    plugins: [
      {
        name: 'plugin',
        resolveId: async function (source, importer) {
          if (source === entry) return entry
          if (!SDK.test(source)) return undefined
          return (await this.resolve(source, importer, { skipSelf: true })) ?? runtime.sdk
        },
        load: (module) => {
          if (module !== entry) return undefined
          const [main, plugin] = [runtime.main, file].map((name) => JSON.stringify(name))
          return {
            code: `import { start } from ${main}\nimport * as plugin from ${plugin}\nstart(plugin)`,
            moduleType: 'js',
          }
        },
      },
    ],
  })
    .then(async (bundle) => {
      const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
      await bundle.close()
      return output[0].code
    })
    .catch((error: unknown) => {
      throw new ConfigError([`plugin "${id}": ${path} does not compile: ${firstLines(error)}`])
    })
  if (Buffer.byteLength(code) > MAX_BUNDLE_BYTES)
    throw new ConfigError([
      `plugin "${id}": ${path} and its packages have more than ${MAX_BUNDLE_BYTES} bytes`,
    ])
  const folder = mkdtempSync(join(tmpdir(), 'relayer-plugin-'))
  folders.add(folder)
  const bundled = join(folder, 'plugin.mjs')
  writeFileSync(bundled, code, { mode: 0o600 })
  return { file: bundled, remove: () => remove(folder) }
}

/** The folders of this process. A start that fails later, or a plugin that does not compile, leaves none behind. */
const folders = new Set<string>()

function remove(folder: string): void {
  folders.delete(folder)
  rmSync(folder, { recursive: true, force: true })
}

process.once('exit', () => [...folders].forEach(remove))

/** The runtime of a clone is beside this file; the bundled program has none there. */
function runtimeFiles(): Runtime {
  const isSource = import.meta.filename.endsWith('.ts')
  const folder = isSource ? resolve(import.meta.dirname, 'runtime') : builtFile('plugins/runtime')
  const extension = isSource ? 'ts' : 'js'
  return { main: join(folder, `main.${extension}`), sdk: join(folder, `sdk.${extension}`) }
}

const MAX_REASON_LINES = 12

function firstLines(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  // The bundler writes colours.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with the character of control sequences
  const plain = message.replaceAll(/\u001b\[[0-9;]*m/g, '')
  return plain
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, MAX_REASON_LINES)
    .join('\n    ')
}
