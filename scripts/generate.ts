/**
 * Writes generated/api.d.ts from openapi.yaml. With `--check` it writes nothing and fails when the file is not current.
 */
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString, type OpenAPITSOptions } from 'openapi-typescript'
import ts from 'typescript'
import { type Contract, loadContract } from '../src/contract/document.ts'

const CONTRACT = new URL('../openapi.yaml', import.meta.url)
const OUTPUT = new URL('../generated/api.d.ts', import.meta.url)
const HEADER = '// Generated from openapi.yaml by `npm run generate`. Do not edit.\n\n'

/** The formats of integers that do not fit into a JavaScript number. The validator turns them into bigint. */
const WIDE_INTEGERS: ReadonlySet<string> = new Set(['u256', 'u128', 'int64', 'uint64', 'sint64'])

/**
 * A field that takes an integer or a decimal string is a bigint by the time a handler sees it, so the union that the
 * contract states would only be in the way.
 */
const transform: NonNullable<OpenAPITSOptions['transform']> = (schema) => {
  if (schema.format === undefined || !WIDE_INTEGERS.has(schema.format)) return undefined
  return ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
}

/** The text that generated/api.d.ts must have. */
export async function generateTypes(): Promise<string> {
  const nodes = await openapiTS(CONTRACT, { transform, immutable: true, alphabetize: false })
  return HEADER + astToString(nodes) + scopesOf(await loadContract(CONTRACT))
}

/** Writes the scope of each operation with a credential, which openapi-typescript leaves out. */
function scopesOf({ operations }: Contract): string {
  const lines = operations.flatMap(({ id, scope }) =>
    scope === undefined ? [] : [`    readonly ${id}: "${scope}";`],
  )
  return ['export interface scopes {', ...lines, '}', ''].join('\n')
}

async function main(): Promise<void> {
  const wanted = await generateTypes()
  if (!process.argv.includes('--check')) return writeFile(OUTPUT, wanted)
  const present = await readFile(OUTPUT, 'utf8').catch(() => '')
  if (present === wanted) return
  console.error('generated/api.d.ts does not fit openapi.yaml. Run `npm run generate`.')
  process.exitCode = 1
}

if (import.meta.main) await main()
