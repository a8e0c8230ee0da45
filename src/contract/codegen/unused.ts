import type { Node } from '../document.ts'

const PREFIX = '#/components/schemas/'

/** Removes the schemas that no operation refers to, directly or through others. */
export function withoutUnused(document: Node): Node {
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
