import { CATALOGUE } from '../networks/catalogue/catalogue.ts'

interface Item {
  readonly value: unknown
  readonly path: string
}

type Fields = Record<string, unknown>

/** A child adds to these lists; every other field of the child replaces the parent's. */
const UNITED = ['tags', 'features']

/**
 * Completes each network that names a parent in `from`: a network of the same type in the file, or else in the catalogue. A network
 * that names itself extends the catalogue's entry, so a well-known network gets other urls and keeps the rest. A value that is not
 * an object stays as it is, and the reader reports it.
 */
export function inherit(items: readonly Item[], problems: string[]): Item[] {
  const wellKnown = byKey(CATALOGUE.map((entry) => ({ ...entry })))
  const known = new Map([...wellKnown, ...byKey(items.map(({ value }) => value))])

  function complete(fields: Fields, seen: readonly string[], path: string): Fields {
    if (fields.from === undefined) return fields
    const parentKey = `${fields.type}/${fields.from}`
    const namesItself = parentKey === keyOf(fields)
    const parent = (namesItself ? wellKnown : known).get(parentKey)
    if (parent === undefined || (!namesItself && seen.includes(parentKey))) {
      const circle = seen.includes(parentKey)
      problems.push(
        `${path}.from names ${circle ? 'itself in a circle' : `"${fields.from}", which does not exist`}`,
      )
      return fields
    }
    return merge(complete(parent, [...seen, parentKey], path), fields)
  }

  return items.map(({ value, path }) => ({
    path,
    value: isFields(value) ? complete(value, [keyOf(value)], path) : value,
  }))
}

function merge(parent: Fields, child: Fields): Fields {
  const united = UNITED.filter((key) => Array.isArray(parent[key]) && Array.isArray(child[key])).map(
    (key) => [key, [...new Set([...(parent[key] as unknown[]), ...(child[key] as unknown[])])]],
  )
  return { ...parent, ...child, ...Object.fromEntries(united) }
}

function byKey(values: readonly unknown[]): Map<string, Fields> {
  return new Map(values.map((value) => [keyOf(value), value as Fields]))
}

function keyOf(value: unknown): string {
  return isFields(value) ? `${value.type}/${value.network}` : ''
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
