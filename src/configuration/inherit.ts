import { CATALOGUE } from '../networks/catalogue.ts'

interface Item {
  readonly value: unknown
  readonly place: string
}

type Fields = Record<string, unknown>

/** Lists that a child adds to; every other field of the child replaces the parent's. */
const UNITED = ['tags', 'features']

/**
 * Completes each network that names a parent in `from`: a network of the same type, of the file or else of the catalogue.
 * What is no object is left as it is for the reader to complain about.
 */
export function inherit(items: readonly Item[], problems: string[]): Item[] {
  const known = [...CATALOGUE.map((entry) => ({ ...entry })), ...items.map(({ value }) => value)]
  const byName = new Map(known.map((value) => [keyOf(value), value as Fields]))

  function complete(fields: Fields, seen: readonly string[], place: string): Fields {
    if (fields.from === undefined) return fields
    const parentKey = `${fields.type}/${fields.from}`
    const parent = byName.get(parentKey)
    if (!parent || seen.includes(parentKey)) {
      problems.push(
        `${place}.from names ${parent ? 'itself in a circle' : `"${fields.from}", which does not exist`}`,
      )
      return fields
    }
    return merge(complete(parent, [...seen, parentKey], place), fields)
  }

  return items.map(({ value, place }) => ({
    place,
    value: isFields(value) ? complete(value, [keyOf(value)], place) : value,
  }))
}

function merge(parent: Fields, child: Fields): Fields {
  const united = UNITED.filter((key) => Array.isArray(parent[key]) && Array.isArray(child[key])).map(
    (key) => [key, [...new Set([...(parent[key] as unknown[]), ...(child[key] as unknown[])])]],
  )
  return { ...parent, ...child, ...Object.fromEntries(united) }
}

function keyOf(value: unknown): string {
  return isFields(value) ? `${value.type}/${value.network}` : ''
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
