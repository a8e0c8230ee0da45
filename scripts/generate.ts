/**
 * Writes from openapi.yaml what is generated: the types of the service, and the types and operations of its client. With `--check` it writes
 * nothing and fails when a file is not current.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { loadContract } from '../src/contract/document.ts'
import { clientOperations } from './generate/client-operations.ts'
import { clientTypes, serviceTypes } from './generate/contract-types.ts'

const ROOT = new URL('../', import.meta.url)
const CONTRACT = new URL('openapi.yaml', ROOT)
const HEADER = '// Generated from openapi.yaml by `npm run generate`. Do not edit.\n\n'

/** The generated files, by their paths, with the text that each must have. */
export async function generateFiles(): Promise<ReadonlyMap<string, string>> {
  const contract = await loadContract(CONTRACT)
  return new Map([
    ['generated/api.d.ts', HEADER + (await serviceTypes(CONTRACT, contract))],
    ['clients/typescript/src/generated/api.ts', HEADER + (await clientTypes(CONTRACT))],
    ['clients/typescript/src/generated/operations.ts', HEADER + clientOperations(contract)],
  ])
}

async function main(): Promise<void> {
  const check = process.argv.includes('--check')
  for (const [path, wanted] of await generateFiles()) {
    const file = new URL(path, ROOT)
    if (!check) await writeFile(file, wanted)
    else if ((await readFile(file, 'utf8').catch(() => '')) !== wanted) {
      console.error(`${path} does not fit openapi.yaml. Run \`npm run generate\`.`)
      process.exitCode = 1
    }
  }
}

if (import.meta.main) await main()
