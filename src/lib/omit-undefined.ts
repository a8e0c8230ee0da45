import { mapFields } from './map-fields.ts'

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Removes the fields that are `undefined`, because absent fields are omitted on the wire. */
export function omitUndefined<T extends object>(object: T): Defined<T> {
  return mapFields(object, (value) => value) as Defined<T>
}
