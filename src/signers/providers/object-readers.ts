import { openReader, type Reader } from '../../lib/fields/reader.ts'
import type { SignerFields } from './provider.ts'

/** Creates the readers of nested objects. `fieldsOf` reads secrets as the place of the configuration demands. */
export function createObjectReaders(
  outer: Reader,
  fieldsOf: (inner: Reader) => SignerFields,
): Pick<SignerFields, 'object' | 'findObject'> {
  function findObject<T>(key: string, read: (fields: SignerFields) => T): T | undefined {
    const inner = outer.object(key)
    if (inner === undefined) return undefined
    const result = read(fieldsOf(inner))
    inner.finish()
    return result
  }
  return {
    findObject,
    object: (key, read) => {
      if (outer.raw(key) === undefined) outer.problem(`has no "${key}"`)
      return findObject(key, read) ?? read(fieldsOf(blankReader()))
    },
  }
}

/** Opens an object without fields. Its problems are dropped, because the absence of the object has been reported. */
function blankReader(): Reader {
  const reader = openReader({}, 'blank', [])
  if (reader === undefined) throw new Error('an empty object is an object')
  return reader
}
