import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { InputOptions } from 'rolldown'
import { ConfigError } from '../lib/fields.ts'
import { builtFile, isMissingPackage } from '../lib/package-files.ts'
import type { PluginConfig, PluginUser } from './plugin.ts'
import { IMPORTS_KEY } from './runtime/allowed.ts'

/** The code of a plugin in one file, with the part of the service that runs beside it. */
export interface PluginBundle {
  readonly file: string
  /** The file that must run before it. */
  readonly wall: string
  /** Removes the files. */
  remove(): void
}

/** Bytes of a bundle. Larger ones start slowly and are almost certainly a mistake. */
const MAX_BUNDLE_BYTES = 32 * 1024 * 1024

/** The packages whose imports a file of ours replaces where they are not installed. */
const SDK = /^@openzeppelin\/relayer-sdk$|^multichain-relayer-client\/plugin$/

/**
 * The library beside the plugins of existing deployments, which the same file replaces even where it is
 * present: it speaks to another service, by a Unix socket, and keeps a handler that is given to `runPlugin`
 * for itself.
 */
const OLD_LIBRARY = /^\.\.?\/(.*\/)?lib\/plugin(\.[jt]s)?$/

/**
 * The part of the service that runs in the process of a plugin: the build has it as one file, and a clone as
 * sources.
 */
interface Runtime {
  readonly main: string
  readonly sdk: string
  readonly wall: string
}

/** The prefix of modules that exist in the bundle alone. */
const VIRTUAL = '\0'

/**
 * Bundles the code of a plugin, with the packages that it imports, into one file of a new folder. TypeScript
 * is not checked, only translated. The bundle imports nothing: it asks for each module of Node.js at run
 * time, where the wall (`runtime/wall.ts`) answers.
 * @param user the user of the plugins' processes, if they have one of their own; its group may read the
 * folder
 * @throws ConfigError with the reason for a plugin that does not compile, or an installation without the
 * bundler
 */
export async function bundlePlugin(
  { id, path }: PluginConfig,
  file: string,
  user?: PluginUser | undefined,
): Promise<PluginBundle> {
  const { rolldown } = await import('rolldown').catch((error: unknown) => {
    if (!isMissingPackage(error, 'rolldown')) throw error
    throw new ConfigError(['plugins need the package rolldown, which is not installed: npm install rolldown'])
  })
  const runtime = runtimeFiles()
  const entry = join(dirname(file), `${VIRTUAL}entry`)
  const generate = async (options: InputOptions): Promise<string> => {
    const bundle = await rolldown({ platform: 'node', tsconfig: false, ...options })
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
    await bundle.close()
    return output[0].code
  }
  const imports = new Set<string>()
  const code = await generate({
    input: entry,
    cwd: dirname(file),
    // A warning of the bundler is for the author of a package. A module that does not exist must not end as a
    // failure in the middle of a call.
    onLog: (_level, log) => {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
    },
    plugins: [
      {
        name: 'plugin',
        resolveId: async function (source, importer) {
          if (source === entry) return entry
          // The code of the bundler itself needs `node:module` before it can define any module; the wall
          // answers that import too.
          if (isBuiltin(source)) {
            imports.add(source)
            return source === 'node:module' ? undefined : VIRTUAL + source
          }
          const isOld = OLD_LIBRARY.test(source) && !importer?.includes('/node_modules/')
          if (!isOld && !SDK.test(source)) return undefined
          const installed = await this.resolve(source, importer, { skipSelf: true })
          if (installed === null || (isOld && isOldLibrary(installed.id))) return runtime.sdk
          return installed
        },
        load: (module) => {
          if (module === entry) return { code: entryCode(runtime, file), moduleType: 'js' }
          const name = module.slice(VIRTUAL.length)
          if (!module.startsWith(VIRTUAL) || !isBuiltin(name)) return undefined
          return {
            code: `module.exports = process.getBuiltinModule(${JSON.stringify(name)})`,
            moduleType: 'js',
          }
        },
      },
    ],
  }).catch((error: unknown) => {
    throw new ConfigError([`plugin "${id}": ${path} does not compile: ${firstLines(error)}`])
  })
  if (Buffer.byteLength(code) > MAX_BUNDLE_BYTES)
    throw new ConfigError([
      `plugin "${id}": ${path} and its packages have more than ${MAX_BUNDLE_BYTES} bytes`,
    ])
  const wallCode = `globalThis[Symbol.for(${JSON.stringify(IMPORTS_KEY.description)})] = ${JSON.stringify([...imports])}\n${await generate({ input: runtime.wall })}`
  const folder = mkdtempSync(join(tmpdir(), 'relayer-plugin-'))
  folders.add(folder)
  const bundle = { file: join(folder, 'plugin.mjs'), wall: join(folder, 'wall.mjs') }
  writeFileSync(bundle.file, code, { mode: user ? 0o640 : 0o600 })
  writeFileSync(bundle.wall, wallCode, { mode: user ? 0o640 : 0o600 })
  if (user !== undefined) {
    for (const path of [bundle.file, bundle.wall, folder]) chownSync(path, -1, user.gid)
    chmodSync(folder, 0o710)
  }
  return { ...bundle, remove: () => remove(folder) }
}

/** A file of that name can also be one of the plugin's own. */
function isOldLibrary(file: string): boolean {
  return /\brunPlugin\b/.test(readFileSync(file, 'utf8'))
}

function entryCode({ main }: Runtime, file: string): string {
  const [runtime, plugin] = [main, file].map((name) => JSON.stringify(name))
  return `import { start } from ${runtime}\nimport * as plugin from ${plugin}\nstart(plugin)`
}

/**
 * The folders of this process. A start that fails later, or a plugin that does not compile, leaves none
 * behind.
 */
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
  return {
    main: join(folder, `main.${extension}`),
    sdk: join(folder, `sdk.${extension}`),
    wall: join(folder, `wall.${extension}`),
  }
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
