import { isDeepStrictEqual } from 'node:util'
import { type Node, resolveReference } from '../document.ts'
import { createReferences, type References } from './references.ts'
import { toSchema30 } from './schema.ts'

const DESCRIPTION = `The contract of the relayer in a form that code generators understand. The service derives this document from
\`/openapi.yaml\`, which has the full descriptions, limits, examples and webhooks. Here, requests have integers of more than 53
bits as decimal strings; the service also accepts JSON integers.
`

/** The contract, with the resolution of references that generators get. */
interface Source {
  readonly document: Node
  readonly references: References
}

/**
 * Derives the document for code generators: the same operations in OpenAPI 3.0.3, without what generators
 * cannot express. Parameters and responses are inlined, because generators confuse their names with those of
 * schemas.
 */
export function codegenDocument(document: Node): Node {
  const source = { document, references: createReferences(document) }
  const { securitySchemes, schemas } = document.components as Node
  return mergeTwins(
    withoutUnused({
      openapi: '3.0.3',
      info: toInfo(document.info as Node),
      servers: [{ url: defaultServer(document) }],
      security: document.security,
      tags: document.tags,
      paths: mapValues(document.paths as Node, (item) => toPathItem(item as Node, source)),
      components: {
        securitySchemes,
        schemas: mapValues(schemas as Node, (schema) => toSchema30(schema as Node, source.references)),
      },
    }),
  )
}

/** 3.0 has the url of a licence where 3.1 has its identifier. */
function toInfo({ title, version, contact, license }: Node): Node {
  const { name, identifier } = license as Node
  const url = `https://spdx.org/licenses/${identifier}.html`
  return { title, version, description: DESCRIPTION, contact, license: { name, url } }
}

/**
 * Writes the address with the defaults of its variables, because generators make clumsy code of variables.
 */
function defaultServer(document: Node): string {
  const [{ url, variables }] = document.servers as [
    { url: string; variables: Readonly<Record<string, Node>> },
  ]
  return url.replaceAll(/\{(\w+)\}/g, (_match, name: string) => String(variables[name]?.default))
}

function toPathItem(item: Node, source: Source): Node {
  return mapValues(item, (value, key) =>
    key === 'parameters' ? toParameters(value, source) : toOperation(value as Node, source),
  )
}

function toOperation(
  { parameters, requestBody, responses, security, ...operation }: Node,
  source: Source,
): Node {
  return {
    ...operation,
    ...(security !== undefined && { security: withoutScopes(security) }),
    ...(parameters !== undefined && { parameters: toParameters(parameters, source) }),
    ...(requestBody !== undefined && { requestBody: toRequestBody(requestBody as Node, source) }),
    responses: mapValues(responses as Node, (response) => toResponse(response as Node, source)),
  }
}

/** 3.0 allows scope names only in OAuth requirements. */
function withoutScopes(security: unknown): Node[] {
  return (security as readonly Node[]).map((requirement) => mapValues(requirement, () => []))
}

function toParameters(parameters: unknown, source: Source): Node[] {
  return (parameters as readonly Node[]).map((parameter) => toParameter(parameter, source))
}

/** Writes a parameter, or a header of a response. */
function toParameter(parameter: Node, { document, references }: Source): Node {
  const {
    example: _example,
    'x-case-insensitive': _insensitive,
    'x-rest': _rest,
    ...rest
  } = resolveReference(document, parameter)
  return { ...rest, schema: toSchema30(rest.schema as Node, references) }
}

/** Every media type of a request has the same schema, so one of them is enough. */
function toRequestBody({ content, ...rest }: Node, { references }: Source): Node {
  const { schema } = (content as Readonly<Record<string, Node>>)['application/json'] as Node
  return { ...rest, content: { 'application/json': { schema: toSchema30(schema as Node, references) } } }
}

/** A stream of events is text for generators, as a program reads it before it takes the events out of it. */
const TEXT = { type: 'string' }

/** Generators have no use for links and examples. */
function toResponse(response: Node, source: Source): Node {
  const { description, headers, content } = resolveReference(source.document, response)
  return {
    description,
    headers: mapValues(headers as Node, (header) => toParameter(header as Node, source)),
    content: mapValues(content as Node, (media, type) => ({
      schema:
        type === 'text/event-stream' ? TEXT : toSchema30((media as Node).schema as Node, source.references),
    })),
  }
}

function mapValues(node: Node, change: (value: unknown, key: string) => unknown): Node {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value, key)]))
}

const PREFIX = '#/components/schemas/'

/** Removes the schemas that no operation refers to, directly or through others. */
function withoutUnused(document: Node): Node {
  const { components, ...rest } = document
  const { schemas, ...others } = components as { schemas: Readonly<Record<string, Node>> }
  const used = new Set<string>()
  const collect = (node: unknown): void => {
    for (const name of namesIn(node)) {
      if (used.has(name)) continue
      used.add(name)
      collect(schemas[name])
    }
  }
  collect(rest)
  const kept = Object.entries(schemas).filter(([name]) => used.has(name))
  return { ...rest, components: { ...others, schemas: Object.fromEntries(kept) } }
}

function namesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(namesIn)
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' ? [String(value).slice(PREFIX.length)] : namesIn(value),
  )
}

/**
 * Merges named schemas that differ only in their description, so that generators make one type: a transaction
 * is then the same type in a list, in the answer about it and in an event. The shortest name stays. Merging
 * can make further schemas equal.
 */
function mergeTwins(document: Node): Node {
  const { schemas } = document.components as { schemas: Readonly<Record<string, Node>> }
  const renamed = findTwins(schemas)
  if (renamed.size === 0) return document
  const kept = Object.entries(schemas).filter(([name]) => !renamed.has(name))
  const components = { ...(document.components as Node), schemas: Object.fromEntries(kept) }
  return mergeTwins(rename({ ...document, components }, renamed) as Node)
}

/** Maps the name of each superfluous schema to the name that stays. */
function findTwins(schemas: Readonly<Record<string, Node>>): ReadonlyMap<string, string> {
  const names = Object.keys(schemas).toSorted((one, other) => one.length - other.length)
  const renamed = new Map<string, string>()
  for (const [index, name] of names.entries()) {
    const twin = names
      .slice(0, index)
      .find((other) => !renamed.has(other) && areTwins(schemas[other], schemas[name]))
    if (twin !== undefined) renamed.set(name, twin)
  }
  return renamed
}

function areTwins(one: Node | undefined, other: Node | undefined): boolean {
  return isDeepStrictEqual({ ...one, description: '' }, { ...other, description: '' })
}

function rename(node: unknown, renamed: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(node)) return node.map((item) => rename(item, renamed))
  if (typeof node === 'string' && node.startsWith(PREFIX))
    return PREFIX + (renamed.get(node.slice(PREFIX.length)) ?? node.slice(PREFIX.length))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, rename(value, renamed)]))
}
