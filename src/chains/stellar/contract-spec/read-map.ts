import type { ScSpecTypeDef, ScSpecTypeMap } from '@stellar/stellar-sdk/xdr'
import { CallProblem } from '../../call/problem.ts'
import { readFields } from '../../call/read-fields.ts'
import type { ScEntry, ScValue } from '../model/sc-value.ts'
import type { ValueContext, ValueReader } from './read-value.ts'

/** Types whose JSON value is a text, or may be one. */
const WRITTEN_AS_TEXT: ReadonlySet<ScSpecTypeDef['type']> = new Set([
  ...([
    'scSpecTypeSymbol',
    'scSpecTypeString',
    'scSpecTypeAddress',
    'scSpecTypeBytes',
    'scSpecTypeBytesN',
  ] as const),
  ...(['scSpecTypeU32', 'scSpecTypeI32', 'scSpecTypeU64', 'scSpecTypeI64'] as const),
  ...(['scSpecTypeU128', 'scSpecTypeI128', 'scSpecTypeU256', 'scSpecTypeI256'] as const),
])

/**
 * Reads a map: an object where its keys can be texts, or a list of keys with their values for keys of any type.
 * @throws CallProblem with the place of the first value that does not fit
 */
export function readMap(
  { keyType, valueType }: ScSpecTypeMap,
  value: unknown,
  { readValue, ...place }: ValueContext & { readonly readValue: ValueReader },
): ScValue {
  const { path } = place
  const textual = WRITTEN_AS_TEXT.has(keyType.type)
  const entry = (
    key: unknown,
    val: unknown,
    at: { readonly key: string; readonly val: string },
  ): ScEntry => ({
    key: readValue(keyType, key, { ...place, path: at.key }),
    val: readValue(valueType, val, { ...place, path: at.val }),
  })
  if (Array.isArray(value))
    return {
      map: value.map((item: unknown, index) => {
        const at = `${path}[${index}]`
        const [key, val] = readFields(item, at, { names: ['key', 'val'] })
        return entry(key, val, { key: `${at}.key`, val: `${at}.val` })
      }),
    }
  if (textual && typeof value === 'object' && value !== null)
    return {
      map: Object.entries(value).map(([key, val]) => {
        const at = `${path}.${key}`
        return entry(key, val, { key: at, val: at })
      }),
    }
  throw new CallProblem(path, `expected ${textual ? 'an object, or ' : ''}a list of objects with key and val`)
}
