import { CallProblem } from '../../call/problem.ts'
import { readFields } from '../../call/read-fields.ts'
import { atomEncoder, readInteger } from '../typed-data/atom.ts'
import { TypedDataProblem } from '../typed-data/problem.ts'
import { haveNames, type Parameter } from './abi.ts'

/**
 * Reads the JSON value of a parameter in the form that viem encodes: integers as bigint, tuples as lists.
 * @throws CallProblem with the place of the first value that does not fit
 */
function readArgument(parameter: Parameter, value: unknown, path: string): unknown {
  const [, item, count = ''] = /^(.+)\[([0-9]*)\]$/.exec(parameter.type) ?? []
  if (item !== undefined) return readList({ ...parameter, type: item }, value, { path, count })
  if (parameter.components !== undefined) return readTuple(parameter.components, value, path)
  return readAtom(parameter.type, value, path)
}

function readList(
  item: Parameter,
  value: unknown,
  { path, count }: { readonly path: string; readonly count: string },
): unknown[] {
  if (!Array.isArray(value) || (count !== '' && value.length !== Number(count)))
    throw new CallProblem(path, `expected a list${count === '' ? '' : ` of ${count} values`}`)
  return value.map((one: unknown, index) => readArgument(item, one, `${path}[${index}]`))
}

/**
 * Reads the JSON values of parameters, from a list or from an object with their names.
 * @throws CallProblem with the place of the first value that does not fit
 */
export function readTuple(components: readonly Parameter[], value: unknown, path: string): unknown[] {
  const values = Array.isArray(value) ? value : fieldsOf(components, value, path)
  if (values.length !== components.length)
    throw new CallProblem(path, `expected ${components.length} values, as many as the tuple has`)
  return components.map((component, index) =>
    readArgument(component, values[index], `${path}${placeOf(component, index, Array.isArray(value))}`),
  )
}

function placeOf({ name }: Parameter, index: number, inOrder: boolean): string {
  return inOrder ? `[${index}]` : `.${name}`
}

/** Gives the fields of an object in the order of the tuple. */
function fieldsOf(components: readonly Parameter[], value: unknown, path: string): unknown[] {
  const names = components.map(({ name = '' }) => name)
  const isNamed = haveNames(components)
  if (typeof value !== 'object' || value === null || !isNamed)
    throw new CallProblem(
      path,
      `expected a list of values${isNamed ? ', or an object' : ', because not each has a name of its own'}`,
    )
  return readFields(value, path, { names })
}

/** The encoder of structured data checks the same types by the same rules. */
function readAtom(type: string, value: unknown, path: string): unknown {
  try {
    atomEncoder(type)?.(value, path)
  } catch (error) {
    if (!(error instanceof TypedDataProblem)) throw error
    throw new CallProblem(path, `expected a value of type ${type}; ${error.expected}`)
  }
  if (/^u?int/.test(type)) return readInteger(value)
  return type === 'string' || type === 'bool' ? value : String(value).toLowerCase()
}
