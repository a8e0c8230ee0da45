import { type Node, resolveReference } from '../../src/contract/document.ts'
import { WIDE_INTEGERS } from './wide-integers.ts'

/**
 * Lists the names of all fields that are integers of more than 53 bits. The client of the service reads them as bigint by their names alone,
 * because a name means the same in every schema.
 *
 * @throws Error for a name that is such an integer in one schema and a small one in another
 */
export function wideFields(document: Node): readonly string[] {
  const found = { document, wide: new Set<string>(), narrow: new Set<string>() }
  const { schemas } = document.components as Node
  for (const [name, schema] of Object.entries(schemas as Node))
    if (!isSingle(schema as Node)) visit(schema as Node, name, found)
  const both = [...found.wide].filter((name) => found.narrow.has(name))
  if (both.length === 0) return [...found.wide].sort()
  throw new Error(
    `${both.join(', ')}: wide integers in one schema and small ones in another. Give one of them another name.`,
  )
}

interface Found {
  readonly document: Node
  readonly wide: Set<string>
  readonly narrow: Set<string>
}

/** Visits a schema that stands in the field `name`. Items of a list count under the name of the list. */
function visit(schema: Node, name: string, found: Found): void {
  if ([schema.type].flat().includes('integer'))
    (WIDE_INTEGERS.has(schema.format) ? found.wide : found.narrow).add(name)
  for (const [field, inner] of Object.entries((schema.properties ?? {}) as Node))
    visitInner(inner, field, found)
  for (const inner of innerSchemas(schema)) visitInner(inner, name, found)
}

/** Schemas behind references are visited on their own, except those of a single value, which have the name of the field. */
function visitInner(inner: unknown, name: string, found: Found): void {
  if (typeof inner !== 'object' || inner === null) return
  const target = resolveReference(found.document, inner as Node)
  if (target === inner || isSingle(target)) visit(target, name, found)
}

function isSingle(schema: Node): boolean {
  return schema.properties === undefined && innerSchemas(schema).length === 0
}

function innerSchemas({ oneOf, anyOf, allOf, items, additionalProperties }: Node): unknown[] {
  return [oneOf, anyOf, allOf, items, additionalProperties]
    .flat()
    .filter((inner) => typeof inner === 'object' && inner !== null)
}
