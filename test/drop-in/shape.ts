/**
 * What an existing client reads out of an answer. A leaf is the JSON type that it expects, with `?` where it copes without; an object
 * has its fields, a list the shape of its items. Fields that the client does not know do not matter to it.
 */
export type Shape = Leaf | readonly [Shape] | { readonly [field: string]: Shape }

type Type = 'string' | 'number' | 'integer' | 'boolean' | 'object'
type Leaf = Type | `${Type}?` | `=${string}`

/** Where the value is not what the shape asks for, each as `path: what is wrong`. Nothing when it fits. */
export function misfits(value: unknown, shape: Shape, path = 'data'): string[] {
  if (typeof shape === 'string') return leafMisfits(value, shape, path)
  if (isList(shape)) {
    if (!Array.isArray(value)) return [`${path}: a list is expected, not ${typeof value}`]
    return value.flatMap((item, index) => misfits(item, shape[0], `${path}[${index}]`))
  }
  if (typeof value !== 'object' || value === null)
    return [`${path}: an object is expected, not ${typeof value}`]
  const fields = new Map(Object.entries(value))
  return Object.entries(shape).flatMap(([field, expected]) =>
    misfits(fields.get(field), expected, `${path}.${field}`),
  )
}

function isList(shape: Exclude<Shape, string>): shape is readonly [Shape] {
  return Array.isArray(shape)
}

function leafMisfits(value: unknown, shape: Leaf, path: string): string[] {
  if (shape.startsWith('='))
    return value === shape.slice(1) ? [] : [`${path}: ${shape} is expected, not ${String(value)}`]
  // Existing clients are sent null where a field is empty, and take its absence for the same.
  if (value === undefined || value === null) return shape.endsWith('?') ? [] : [`${path}: is missing`]
  const type = shape.replace('?', '')
  const fits =
    type === 'integer' ? Number.isInteger(value) || typeof value === 'bigint' : typeof value === type
  return fits ? [] : [`${path}: ${type} is expected, not ${typeof value}`]
}
