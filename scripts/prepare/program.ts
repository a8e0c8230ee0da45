import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { OutputAsset, OutputChunk, Plugin, RolldownOptions } from 'rolldown'
import { loadContract } from '../../src/contract/document.ts'
import { prepareValidators } from '../../src/contract/prepare-validators.ts'
import { migrationsVersion } from '../../src/database/engines/embedded/migrations-version.ts'
import { currentProgram, hashOfSources, markOf } from './current-program.mjs'
import { licencesOf } from './licences.ts'

/**
 * Programs that the service starts: itself, the thread of the embedded database, the process of a PKCS#11 library, and the part of a plugin's
 * process that is ours, which is bundled with the code of the plugin.
 */
const PROGRAMS = [
  'main',
  'database/engines/embedded/engine-thread',
  'signers/pkcs11/process/main',
  'plugins/runtime/main',
  'plugins/runtime/sdk',
  'plugins/runtime/wall',
]

/** The package has machine code, which no bundle can hold. */
const WITH_MACHINE_CODE = ['secp256k1']

/**
 * Builds the program from `src` and the packages that it uses into a few files of `dist`, unless it is there and current: Node.js spends
 * more time on finding and reading two thousand small files than on all the rest of a start.
 */
export async function prepareProgram(root: string): Promise<void> {
  if (currentProgram(root) !== undefined) return
  const hash = hashOfSources(root)
  const dist = join(root, 'dist')
  rmSync(markOf(root), { force: true })
  rmSync(join(dist, 'chunks'), { recursive: true, force: true })
  const inputs = Object.fromEntries(PROGRAMS.map((name) => [name, join(root, 'src', `${name}.ts`)]))
  const output = await bundle(root, inputs, dist)
  const modules = output.filter((file): file is OutputChunk => file.type === 'chunk')
  writeFileSync(join(dist, 'main.js.LICENSE.txt'), licencesOf(modules.flatMap(({ moduleIds }) => moduleIds)))
  writeFileSync(markOf(root), hash)
}

/**
 * Bundles programs that have the service in them, with its prepared validators, into a folder somewhere below the root.
 *
 * @param inputs the file of each program by its name in the folder
 */
export async function bundle(
  root: string,
  inputs: Readonly<Record<string, string>>,
  dir: string,
): Promise<readonly (OutputChunk | OutputAsset)[]> {
  // The package is imported here, because an installation without development dependencies has none.
  const { rolldown } = await import('rolldown')
  const made = await rolldown(optionsOf(root, inputs))
  const { output } = await made.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  return output
}

function optionsOf(root: string, input: Readonly<Record<string, string>>): RolldownOptions {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  // An installation may lack the optional ones, and the embedded database has files beside its code.
  const apart = [
    ...Object.keys({ ...manifest.optionalDependencies, ...manifest.peerDependencies }),
    ...WITH_MACHINE_CODE,
  ]
  return {
    cwd: root,
    input,
    platform: 'node',
    // Node.js runs the sources without one, and the image is built without the one of the root.
    tsconfig: false,
    plugins: [withPrepared(root), withLazyBuiltins()],
    external: (id) => apart.some((name) => id === name || id.startsWith(`${name}/`)),
    // A package that no one has installed must not end as an import that fails at a start.
    onLog: (level, log, report) => {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
      if (log.code !== 'EVAL') report(level, log)
    },
  }
}

/** Puts what is known when the program is built into the places of the files that compile or read it. */
function withPrepared(root: string): Plugin {
  const codes: Readonly<Record<string, () => string | Promise<string>>> = {
    [join(root, 'src/contract/prepared-validators.ts')]: async () =>
      prepareValidators(await loadContract(pathToFileURL(join(root, 'openapi.yaml')))),
    [join(root, 'src/database/engines/embedded/migrations-version.ts')]: () =>
      `export const migrationsVersion = () => '${migrationsVersion(join(root, 'src/database/migrations'))}'`,
  }
  return {
    name: 'prepared',
    load: {
      filter: { id: /(prepared-validators|migrations-version)\.ts$/ },
      handler: async (id) => {
        const code = await codes[id]?.()
        return code === undefined ? undefined : { code, moduleType: 'js' }
      },
    },
  }
}

/** Begins the names of modules that exist in the build alone. */
const VIRTUAL = '\0builtin '

/**
 * Loads modules of Node.js as `require` does. `import` asks for each of their exports at once, and some of them load much: that of
 * `node:http` loads a second HTTP client with its WebSocket, which takes 40 ms and 10 MB, and that of `node:tls` all root certificates.
 */
function withLazyBuiltins(): Plugin {
  return {
    name: 'lazy-builtins',
    // The code of the bundler itself needs `node:module` before it can define any module.
    resolveId: (id) => (isBuiltin(id) && id !== 'node:module' ? VIRTUAL + id : undefined),
    load: (id) => {
      if (!id.startsWith(VIRTUAL)) return undefined
      const name = JSON.stringify(id.slice(VIRTUAL.length))
      return { code: `module.exports = process.getBuiltinModule(${name})`, moduleType: 'js' }
    },
  }
}

interface Manifest {
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}
