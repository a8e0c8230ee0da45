import { copyFile, mkdir } from 'node:fs/promises'
import { openapiGenerator } from './openapi-generator.ts'
import { CODEGEN_JSON, GO_BIN, GO_MODULE, PROGRAMS } from './paths.ts'
import { run } from './run.ts'
import type { Step } from './steps.ts'
import { LIBRARIES } from './versions.ts'

/** Makes the module of the generated clients, with the exact versions of their libraries. */
export async function makeGoModule(): Promise<void> {
  await mkdir(GO_MODULE, { recursive: true })
  await run(['go', 'mod', 'init', 'clients'], { cwd: GO_MODULE })
  const libraries = Object.entries(LIBRARIES.go).map(([path, version]) => `${path}@${version}`)
  await run(['go', 'get', ...libraries], { cwd: GO_MODULE })
}

/** Generators of Go. */
export const GO: readonly Step[] = [
  { name: 'oapi-codegen: Go', needs: 'go', run: oapiCodegen },
  { name: 'openapi-generator: go', needs: 'java', run: openapiGeneratorGo },
]

async function oapiCodegen(): Promise<void> {
  await mkdir(`${GO_MODULE}/oapicodegen`, { recursive: true })
  const options = [
    '-generate',
    'types,client',
    '-package',
    'oapicodegen',
    '-o',
    `${GO_MODULE}/oapicodegen/client.go`,
  ]
  await run([`${GO_BIN}/oapi-codegen`, ...options, CODEGEN_JSON])
  await build('oapi_codegen')
}

/** The options are those of docs/clients-in-any-language.md. */
async function openapiGeneratorGo(): Promise<void> {
  const properties =
    'packageName=openapigenerator,enumClassPrefix=true,useOneOfDiscriminatorLookup=true,withGoMod=false'
  const options = ['--type-mappings=number=json.Number', `--additional-properties=${properties}`]
  await openapiGenerator({ generator: 'go', folder: `${GO_MODULE}/openapigenerator`, options })
  await build('openapi_generator')
}

/** Builds the program that uses the client, and so the client. */
async function build(story: string): Promise<void> {
  await mkdir(`${GO_MODULE}/${story}`, { recursive: true })
  await copyFile(`${PROGRAMS}/stories/${story}.go`, `${GO_MODULE}/${story}/main.go`)
  await run(['go', 'vet', `./${story}`], { cwd: GO_MODULE })
  await run(['go', 'build', '-o', `bin/${story}`, `./${story}`], { cwd: GO_MODULE })
}
