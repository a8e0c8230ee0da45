import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { GO_BIN, JAR_FOLDER, LOCKS, NPM_TOOLS, PYTHON } from './paths.ts'
import { run } from './run.ts'
import type { Step } from './steps.ts'
import { GENERATOR_SHA256, MAVEN_DEPENDENCY_PLUGIN, VERSIONS } from './versions.ts'

/** The jar of openapi-generator. */
export const JAR = `${JAR_FOLDER}/openapi-generator-cli-${VERSIONS['openapi-generator']}.jar`

/** The installation of the tools. A folder that has the right versions is left as it is. */
export const INSTALLATION: readonly Step[] = [
  {
    name: 'oapi-codegen, from the Go module proxy',
    needs: 'go',
    run: () => installOnce(GO_BIN, goArguments(), installGo),
  },
  {
    name: 'openapi-generator, from Maven Central',
    needs: 'java',
    run: () => installOnce(JAR_FOLDER, [JAR], installJar).then(checkJar),
  },
  {
    name: 'Spectral, swagger-parser, @hey-api/openapi-ts, from npm',
    run: async () => installOnce(NPM_TOOLS, await npmFiles(), installNpm),
  },
  {
    name: 'openapi-python-client, openapi-spec-validator, PyYAML, from PyPI',
    run: async () => installOnce(PYTHON, [await readFile(REQUIREMENTS, 'utf8')], installPython),
  },
]

/**
 * The exact version of every package, those that the tools ask for included: an unpinned ruleset of Spectral once made this check fail
 * without a change of ours.
 */
const NPM_FILES = ['package.json', 'package-lock.json'] as const
const REQUIREMENTS = `${LOCKS}/requirements.txt`

const npmFiles = () => Promise.all(NPM_FILES.map((name) => readFile(`${LOCKS}/${name}`, 'utf8')))
const goArguments = () => [
  `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${VERSIONS['oapi-codegen']}`,
]

/** Installs into an empty folder, and remembers there which versions it has when all of them are there. */
async function installOnce(
  folder: string,
  wanted: readonly string[],
  install: (wanted: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const marker = `${folder}/installed.json`
  const text = JSON.stringify(wanted)
  if ((await readFile(marker, 'utf8').catch(() => '')) === text) return
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await install(wanted)
  await writeFile(marker, text)
}

async function installNpm(): Promise<void> {
  for (const name of NPM_FILES) await copyFile(`${LOCKS}/${name}`, `${NPM_TOOLS}/${name}`)
  // None of them needs its install scripts.
  await run(['npm', 'ci', '--ignore-scripts'], { cwd: NPM_TOOLS })
}

async function installPython(): Promise<void> {
  await run(['python3', '-m', 'venv', PYTHON])
  // The file names every package, so one that it lacks fails the check below instead of coming in the newest version.
  await run([`${PYTHON}/bin/pip`, 'install', '--quiet', '--no-deps', '--requirement', REQUIREMENTS])
  await run([`${PYTHON}/bin/pip`, 'check'])
}

const installGo = (packages: readonly string[]) =>
  run(['go', 'install', ...packages], { env: { GOBIN: GO_BIN } })

async function installJar(): Promise<void> {
  const artifact = `org.openapitools:openapi-generator-cli:${VERSIONS['openapi-generator']}`
  const target = [`-Dartifact=${artifact}`, `-DoutputDirectory=${JAR_FOLDER}`, '-Dmdep.useBaseVersion=true']
  await run(['mvn', '--batch-mode', '--quiet', `${MAVEN_DEPENDENCY_PLUGIN}:copy`, ...target])
}

async function checkJar(): Promise<void> {
  const found = createHash('sha256')
    .update(await readFile(JAR))
    .digest('hex')
  if (found !== GENERATOR_SHA256)
    throw new Error(`${JAR} has the SHA-256 ${found}; ${GENERATOR_SHA256} is expected`)
}
