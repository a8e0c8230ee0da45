import openapiTS, { astToString, type OpenAPITSOptions } from 'openapi-typescript'
import ts from 'typescript'
import type { Contract } from '../../src/contract/document.ts'
import { WIDE_INTEGERS } from './wide-integers.ts'

type Transform = NonNullable<OpenAPITSOptions['transform']>

/**
 * A field that takes an integer or a decimal string is a bigint by the time a handler sees it, so the union that the
 * contract states would only be in the way.
 */
const asHandlersSee: Transform = ({ format }) => (WIDE_INTEGERS.has(format) ? bigint() : undefined)

/** Callers may write what the contract takes, and more: the client writes a bigint as an exact JSON integer. */
const asCallersWrite: Transform = (schema) => {
  if (!WIDE_INTEGERS.has(schema.format)) return undefined
  const types: readonly unknown[] = 'type' in schema ? [schema.type].flat() : []
  return types.includes('string')
    ? ts.factory.createUnionTypeNode([bigint(), keyword('NumberKeyword'), keyword('StringKeyword')])
    : bigint()
}

/** Creates the types for the service, with the scope of each operation, which openapi-typescript leaves out. */
export async function serviceTypes(file: URL, contract: Contract): Promise<string> {
  return (await typesOf(file, asHandlersSee)) + scopesOf(contract)
}

/** Creates the types for the client. */
export async function clientTypes(file: URL): Promise<string> {
  return typesOf(file, asCallersWrite)
}

async function typesOf(file: URL, transform: Transform): Promise<string> {
  return astToString(await openapiTS(file, { transform, immutable: true, alphabetize: false }))
}

function scopesOf({ operations }: Contract): string {
  const lines = operations.flatMap(({ id, scope }) =>
    scope === undefined ? [] : [`    readonly ${id}: "${scope}";`],
  )
  return ['export interface scopes {', ...lines, '}', ''].join('\n')
}

function bigint(): ts.KeywordTypeNode {
  return keyword('BigIntKeyword')
}

function keyword(name: 'BigIntKeyword' | 'NumberKeyword' | 'StringKeyword'): ts.KeywordTypeNode {
  return ts.factory.createKeywordTypeNode(ts.SyntaxKind[name])
}
