import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { GO_BIN, JAR_FOLDER, NPM_TOOLS, PYTHON } from './paths.ts'
import { run } from './run.ts'
import type { Step } from './steps.ts'
import { GENERATOR_SHA256, LIBRARIES, MAVEN_DEPENDENCY_PLUGIN, VERSIONS } from './versions.ts'

/** The jar of openapi-generator. */
export const JAR = `${JAR_FOLDER}/openapi-generator-cli-${VERSIONS['openapi-generator']}.jar`

const NPM_PACKAGES = [
  '@apidevtools/swagger-parser',
  '@hey-api/openapi-ts',
  '@stoplight/spectral-cli',
] as const
const PYTHON_PACKAGES = ['openapi-python-client', 'openapi-spec-validator'] as const

/** The installation of the tools. A folder that has the right versions is left as it is. */
export const INSTALLATION: readonly Step[] = [
  {
    name: 'oapi-codegen, from the Go module proxy',
    run: () => installOnce(GO_BIN, goArguments(), installGo),
  },
  {
    name: 'openapi-generator, from Maven Central',
    run: () => installOnce(JAR_FOLDER, [JAR], installJar).then(checkJar),
  },
  {
    name: 'Spectral, swagger-parser, @hey-api/openapi-ts, from npm',
    run: () => installOnce(NPM_TOOLS, npmArguments(), installNpm),
  },
  {
    name: 'openapi-python-client, openapi-spec-validator, PyYAML, from PyPI',
    run: () => installOnce(PYTHON, pythonArguments(), installPython),
  },
]

const npmArguments = () => [...NPM_PACKAGES.map((name) => `${name}@${VERSIONS[name]}`), ...LIBRARIES.npm]
const pythonArguments = () => [
  ...PYTHON_PACKAGES.map((name) => `${name}==${VERSIONS[name]}`),
  ...LIBRARIES.python,
]
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

async function installNpm(packages: readonly string[]): Promise<void> {
  await writeFile(`${NPM_TOOLS}/package.json`, '{ "private": true }')
  // None of them needs its install scripts.
  await run(['npm', 'install', '--ignore-scripts', '--save-exact', ...packages], { cwd: NPM_TOOLS })
}

async function installPython(packages: readonly string[]): Promise<void> {
  await run(['python3', '-m', 'venv', PYTHON])
  await run([`${PYTHON}/bin/pip`, 'install', '--quiet', ...packages])
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
