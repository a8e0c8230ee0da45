import type { Node } from './document.ts'

/** The largest integer that a browser shows exactly. */
const LARGEST_EXACT = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Derives the document for the reference page: integers of more than 53 bits have no bounds, because a browser would show rounded
 * ones, and no pattern, because it is a page long. Their format and their description say the range.
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
