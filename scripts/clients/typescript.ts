import { mkdir, writeFile } from 'node:fs/promises'
import { openapiGenerator } from './openapi-generator.ts'
import { CONTRACT_YAML, NPM_TOOLS, OUT } from './paths.ts'
import { run } from './run.ts'
import type { Step } from './steps.ts'

/** Generators of TypeScript. Those that read OpenAPI 3.1 read the contract itself. */
export const TYPESCRIPT: readonly Step[] = [
  { name: 'openapi-typescript + openapi-fetch: TypeScript', run: openapiTypescript },
  { name: '@hey-api/openapi-ts: TypeScript', run: heyApi },
  { name: 'openapi-generator: typescript-fetch', needs: 'java', run: typescriptFetch },
]

/** A use of the types, because types alone compile whatever they say. */
const USE = `import createClient from 'openapi-fetch'
import type { paths } from './schema'

const client = createClient<paths>({ baseUrl: 'http://localhost:8080' })
const path = { relayer_id: 'local-1' }

export async function send(): Promise<string | undefined> {
  const { data, error } = await client.POST('/api/v1/relayers/{relayer_id}/transactions', {
    params: { path },
    body: { value: '1000000000000000001', speed: 'fast' },
  })
  if (error) throw new Error(error.code)
  if ('dry_run' in data.data) return data.data.error
  return data.data.network_type === 'evm' ? data.data.max_fee_per_gas : data.data.hash
}

// @ts-expect-error there is no such speed
export const refused = () => client.POST('/api/v1/relayers/{relayer_id}/transactions', { params: { path }, body: { value: '1', speed: 'warp' } })
`

async function openapiTypescript(): Promise<void> {
  const folder = `${OUT}/openapi-typescript`
  await mkdir(folder, { recursive: true })
  // In the root it would lint with the strict rules of this repository.
  await run(['openapi-typescript', CONTRACT_YAML, '--output', 'schema.d.ts'], { cwd: folder })
  await writeFile(`${folder}/use.ts`, USE)
  await compile(folder)
}

async function heyApi(): Promise<void> {
  const folder = `${OUT}/hey-api`
  await run([`${NPM_TOOLS}/node_modules/.bin/openapi-ts`, '--input', CONTRACT_YAML, '--output', folder])
  await compile(folder)
}

async function typescriptFetch(): Promise<void> {
  const folder = `${OUT}/typescript-fetch`
  await openapiGenerator({ generator: 'typescript-fetch', folder })
  await compile(folder)
}

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    module: 'ESNext',
    moduleResolution: 'bundler',
    types: [],
  },
  include: ['**/*.ts'],
}

async function compile(folder: string): Promise<void> {
  await writeFile(`${folder}/tsconfig.json`, JSON.stringify(TSCONFIG))
  await run(['tsc', '--project', folder])
}
