import { isDeepStrictEqual } from 'node:util'
import type { Node } from '../document.ts'

/** The schema that a generator shall see: a named one, or one without a name. */
export type Target = { readonly name: string } | { readonly node: Node }

/** Finds the targets of references. */
export interface References {
  /** Resolves a schema that may be a reference. A schema without a reference is its own target. */
  resolve(schema: Node): Target
  /** Resolves a schema like `resolve`, and reads a named one. */
  follow(schema: Node): Node
  /** Lists the members of a union that generators shall see. */
  membersOf(union: Node): readonly Node[]
}

const PREFIX = '#/components/schemas/'

/**
 * Creates the resolution of references for generators. Objects, enumerations and unions keep their names,
 * because generators make a type of each. Everything else is written out where it is used, with the
 * description of that place.
 */
export function createReferences(document: Node): References {
  const references: References = {
    resolve({ $ref, ...own }) {
      if (typeof $ref !== 'string') return { node: own }
      const node = nodeAt(document, $ref)
      const wider = widerSchema(node, references)
      if (wider !== undefined) return references.resolve(wider)
      return isNamed($ref, node)
        ? { name: $ref.slice(PREFIX.length) }
        : references.resolve({ ...node, ...own })
    },
    follow(schema) {
      const target = references.resolve(schema)
      return 'name' in target ? nodeAt(document, PREFIX + target.name) : target.node
    },
    membersOf: (union) => membersOf(union, references),
  }
  return references
}

/** Reads the schema itself, without following a reference that it has. */
function nodeAt(document: Node, reference: string): Node {
  const [, , , ...steps] = reference.split('/')
  const { schemas } = document.components as Node
  return steps.reduce<unknown>((at, step) => (at as Node)[step], schemas) as Node
}

/** A part of another schema has no name. */
function isNamed(reference: string, node: Node): boolean {
  if (reference.slice(PREFIX.length).includes('/')) return false
  return ['properties', 'enum', 'oneOf', 'allOf'].some((word) => word in node)
}

/**
 * Finds the schema that generators get in place of one that only narrows another, or of a union that has one
 * member.
 */
function widerSchema(node: Node, references: References): Node | undefined {
  if (Array.isArray(node.allOf)) return narrowed(node.allOf as readonly Node[], references)
  if (!Array.isArray(node.oneOf)) return undefined
  const [only, ...others] = references.membersOf(node)
  return others.length === 0 ? only : undefined
}

/**
 * Finds the schema that `allOf` narrows by objects without further properties. Generators cannot narrow, so
 * they get the wider one. All of these schemas describe answers.
 */
function narrowed([base, ...others]: readonly Node[], references: References): Node | undefined {
  const known = Object.keys(references.follow(base as Node).properties as Node)
  const names = others.flatMap(({ properties }) => Object.keys((properties ?? {}) as Node))
  return names.every((name) => known.includes(name)) ? base : undefined
}

/**
 * The members of a union inside take its place, and a list of another member is left out (a batch beside a
 * single call), because generators write code for neither that compiles.
 */
function membersOf({ oneOf, discriminator }: Node, references: References): readonly Node[] {
  const members = (oneOf as readonly Node[]).flatMap((member) => {
    const inner = references.follow(member)
    return discriminator === undefined && inner.oneOf !== undefined ? references.membersOf(inner) : [member]
  })
  return members.filter(({ items }) => !members.some((member) => isDeepStrictEqual(member, items)))
}
