import { createHash } from 'node:crypto'
import { codegenDocument } from './codegen/document.ts'
import type { Contract, Node } from './document.ts'
import { stringifyJson } from './exact-integers.ts'

/** A page of the documentation, ready to send. */
export interface Page {
  readonly path: string
  /** The required value of the query parameter `profile`; absent if it must be absent. */
  readonly profile?: string
  readonly mediaType: string
  /** A text, or the bytes of a picture. */
  readonly body: string | Buffer
  /** Changes with the body. */
  readonly version: string
  /** Its address has the version in the query `v`, so a browser may keep it. */
  readonly versioned: boolean
}

/**
 * Creates the pages that are the contract: `/openapi.yaml`, and `/openapi.json` with its profiles. They never
 * change while the process lives. The derived documents are created on the first request.
 */
export function contractPages({
  document,
  yaml,
  json,
}: Pick<Contract, 'document' | 'yaml' | 'json'>): Page[] {
  return [
    page('/openapi.yaml', 'application/yaml', yaml),
    page('/openapi.json', 'application/json', json),
    profile('codegen', () => stringifyJson(codegenDocument(document))),
    profile('reference', () => stringifyJson(referenceDocument(document))),
  ]
}

/** Creates a page of which the whole text is known. */
export function page(path: string, mediaType: string, body: string | Buffer): Page {
  const version = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  return { path, mediaType, body, version, versioned: false }
}

/** Creates a page of a document that is derived from the contract, when its body or version is first read. */
function profile(name: string, derive: () => string): Page {
  let made: Page | undefined
  const read = () => {
    made ??= page('/openapi.json', 'application/json', derive())
    return made
  }
  return {
    path: '/openapi.json',
    profile: name,
    mediaType: 'application/json',
    get body() {
      return read().body
    },
    get version() {
      return read().version
    },
    versioned: false,
  }
}

/** The largest integer that a browser shows exactly. */
const LARGEST_EXACT = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Derives the document for the reference page: integers of more than 53 bits have no bounds, because a
 * browser would show rounded ones, and no pattern, because it is a page long. Their format and their
 * description say the range.
 */
export function referenceDocument(document: Node): Node {
  return withoutWideBounds(document) as Node
}

function withoutWideBounds(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutWideBounds)
  if (typeof node !== 'object' || node === null) return node
  const { minimum, maximum, pattern, ...rest } = node as Node
  const shown = isWide(maximum) ? rest : (node as Node)
  return Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, withoutWideBounds(value)]))
}

function isWide(maximum: unknown): boolean {
  return typeof maximum === 'bigint' && maximum > LARGEST_EXACT
}
