import { isDeepStrictEqual } from 'node:util'
import type { Node } from '../document.ts'

const PREFIX = '#/components/schemas/'

/**
 * Merges named schemas that differ only in their description, so that generators make one type: a transaction is then the same
 * type in a list, in the answer about it and in an event. The shortest name stays. Merging can make further schemas equal.
 */
export function mergeTwins(document: Node): Node {
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
  for (const [place, name] of names.entries()) {
    const twin = names
      .slice(0, place)
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
