/**
 * `npm run check:clients`: the tools of other people read the contract. It reads openapi.yaml with the YAML readers of other
 * languages, validates it, generates clients, compiles them, and lets those in Go and Python work with a running service. It
 * installs the tools by their exact versions; Go, a JDK, Maven and Python have to be there.
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
import { runSteps } from './clients/steps.ts'
import { stories } from './clients/stories.ts'
import { TYPESCRIPT } from './clients/typescript.ts'
import { VALIDATORS } from './clients/validators.ts'

/** Downloads wait for the network, so all of them go on at the same time. */
const DOWNLOADS_AT_A_TIME = INSTALLATION.length

async function install(): Promise<void> {
  await requirePrograms()
  console.log('== Tools, installed once')
  if ((await runSteps(INSTALLATION, DOWNLOADS_AT_A_TIME)) > 0)
    throw new Error('The tools could not be installed.')
  await rm(OUT, { recursive: true, force: true })
  await mkdir(OUT, { recursive: true })
  await makeGoModule()
}

/** Takes the documents from the running service, as everybody does. */
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
    const failures = await runSteps([
      ...JAVA,
      ...GO,
      ...TYPESCRIPT,
      ...PYTHON_GENERATORS,
      ...READERS,
      ...VALIDATORS,
    ])
    console.log('== Clients at work')
    // One after the other, because they use the same account.
    return failures + (await runSteps(stories(scenario), 1))
  } finally {
    await scenario.stop()
  }
}

async function main(): Promise<void> {
  await install()
  const failures = await check()
  if (failures > 0) throw new Error(`${failures} failed.`)
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exitCode = 1
})
