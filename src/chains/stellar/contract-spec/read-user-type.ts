import type { ScSpecUdtEnumV0, ScSpecUdtStructV0, ScSpecUdtUnionV0 } from '@stellar/stellar-sdk/xdr'
import { CallProblem } from '../../call/problem.ts'
import { listOf, readFields, readList } from '../../call/read-fields.ts'
import type { ScValue } from '../model/sc-value.ts'
import type { ValueContext, ValueReader } from './read-value.ts'

type Reading = ValueContext & { readonly readValue: ValueReader }

/**
 * Reads a value of a type that the contract defines, as the SDK of contracts encodes it.
 * @throws CallProblem with the place of the first value that does not fit
 */
export function readUserType(name: string, value: unknown, reading: Reading): ScValue {
  const type = reading.types.get(name)
  if (type === undefined)
    throw new CallProblem(reading.path, `the specification of the contract lacks its type ${name}; send args`)
  if (type.type === 'scSpecEntryUdtStructV0') return readStruct(type.udtStructV0, value, reading)
  if (type.type === 'scSpecEntryUdtUnionV0') return readUnion(type.udtUnionV0, value, reading)
  return readEnum(type.udtEnumV0, value, reading)
}

/** A structure is a map with the names of its fields; one whose fields have numbers for names is a tuple. */
function readStruct(
  { fields }: ScSpecUdtStructV0,
  value: unknown,
  { readValue, ...place }: Reading,
): ScValue {
  const { path } = place
  const names = fields.map(({ name }) => name.toString())
  if (names.every((name) => /^\d+$/.test(name))) {
    const list = readList(value, path, fields.length)
    return {
      vec: fields.map(({ type }, index) =>
        readValue(type, list[index], { ...place, path: `${path}[${index}]` }),
      ),
    }
  }
  const optional = new Set(names.filter((_, index) => fields[index]?.type.type === 'scSpecTypeOption'))
  const values = readFields(value, path, { names, mayLack: (name) => optional.has(name) })
  return {
    map: fields.map(({ type }, index) => ({
      key: { symbol: names[index] ?? '' },
      val: readValue(type, values[index], { ...place, path: `${path}.${names[index]}` }),
    })),
  }
}

/** A union is a list: the symbol of its case, and the values of the case. */
function readUnion({ cases }: ScSpecUdtUnionV0, value: unknown, { readValue, ...place }: Reading): ScValue {
  const { path } = place
  const [tag, given] = readFields(value, path, {
    names: ['tag', 'values'],
    mayLack: (name) => name === 'values',
  })
  const found = cases.find((one) => one.value.name.toString() === tag)
  if (found === undefined) {
    const names = cases.map((one) => one.value.name.toString())
    throw new CallProblem(`${path}.tag`, `expected one of ${listOf(names)}`)
  }
  const types = found.type === 'scSpecUdtUnionCaseTupleV0' ? found.tupleCase.type : []
  const values = readList(given ?? [], `${path}.values`, types.length)
  const content = types.map((type, index) =>
    readValue(type, values[index], { ...place, path: `${path}.values[${index}]` }),
  )
  return { vec: [{ symbol: String(tag) }, ...content] }
}

/** An enum is the number of its case; the caller may write its name. */
function readEnum({ cases }: ScSpecUdtEnumV0, value: unknown, { path }: Reading): ScValue {
  const found = cases.find((one) => one.name.toString() === value || one.value === value)
  if (found !== undefined) return { u32: found.value }
  const names = cases.map((one) => `${one.name.toString()} (${one.value})`)
  throw new CallProblem(path, `expected one of ${listOf(names)}`)
}
