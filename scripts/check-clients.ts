/**
 * `npm run check:clients`: third-party tools read the contract. It reads openapi.yaml with the YAML readers of other languages, validates it,
 * generates clients, compiles them, and runs those in Go and Python against a running service. It installs the tools by their exact versions;
 * Go, a JDK, Maven and Python must be installed. With `--without-go-and-java` it runs only what needs nothing but Node and Python, and names
 * everything that it leaves out.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { startScenario } from '../test/support/scenario.ts'
import { GO, makeGoModule } from './clients/go.ts'
import { INSTALLATION } from './clients/install.ts'
import { JAVA } from './clients/java.ts'
import { CODEGEN_JSON, CONTRACT_JSON, OUT } from './clients/paths.ts'
import { PYTHON_GENERATORS } from './clients/python.ts'
import { READERS } from './clients/readers.ts'
import { requirePrograms } from './clients/require-programs.ts'
import { runSteps, type Step, type Toolchain } from './clients/steps.ts'
import { stories } from './clients/stories.ts'
import { TYPESCRIPT } from './clients/typescript.ts'
import { VALIDATORS } from './clients/validators.ts'
import { readOptions } from './read-options.ts'

const { values: chosen } = readOptions({
  options: { 'without-go-and-java': { type: 'boolean', default: false } },
})
const leavesOut = chosen['without-go-and-java']
const TOOLCHAINS: ReadonlySet<Toolchain> = new Set(leavesOut ? [] : ['go', 'java'])

/** Steps that were left out, by name. */
const leftOut: string[] = []

/** Returns the steps that the chosen toolchains can run, and notes the others. */
function runnable(steps: readonly Step[]): Step[] {
  return steps.filter(({ name, needs }) => {
    const runs = needs === undefined || TOOLCHAINS.has(needs)
    if (!runs) leftOut.push(name)
    return runs
  })
}

/** Downloads wait for the network, so all of them go on at the same time. */
const DOWNLOADS_AT_A_TIME = INSTALLATION.length

async function install(): Promise<void> {
  await requirePrograms(TOOLCHAINS)
  console.log('== Tools, installed once')
  if ((await runSteps(runnable(INSTALLATION), DOWNLOADS_AT_A_TIME)) > 0)
    throw new Error('The tools could not be installed.')
  await rm(OUT, { recursive: true, force: true })
  await mkdir(OUT, { recursive: true })
  if (TOOLCHAINS.has('go')) await makeGoModule()
}

/** Takes the documents from the running service, as everyone does. */
async function download(url: string): Promise<void> {
  await writeFile(CONTRACT_JSON, await (await fetch(`${url}/openapi.json`)).text())
  await writeFile(CODEGEN_JSON, await (await fetch(`${url}/openapi.json?profile=codegen`)).text())
}

async function check(): Promise<number> {
  const scenario = await startScenario()
  try {
    await download(scenario.service.url)
    console.log('== Clients, readers and validators')
    // The longest begin, so that none of them is left alone at the end.
    const failures = await runSteps(
      runnable([...JAVA, ...GO, ...TYPESCRIPT, ...PYTHON_GENERATORS, ...READERS, ...VALIDATORS]),
    )
    console.log('== Clients at work')
    // One after the other, because they use the same account.
    return failures + (await runSteps(runnable(stories(scenario)), 1))
  } finally {
    await scenario.stop()
  }
}

async function main(): Promise<void> {
  await install()
  const failures = await check()
  if (leavesOut)
    console.log(
      `== Left out, because they need Go or Java\n${leftOut.map((name) => `-    ${name}`).join('\n')}`,
    )
  if (failures > 0) throw new Error(`${failures} failed.`)
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exitCode = 1
})
