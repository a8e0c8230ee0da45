import { CallProblem } from '../../call/problem.ts'
import { readObject } from '../../call/read-fields.ts'
import { type AbiFunction, canonicalType, isAtom, type Parameter } from './abi.ts'

/** A type with more characters has more dimensions than any function, and would only take time to read. */
const MOST_TYPE_CHARACTERS = 100

/** The items of an ABI that are no functions. */
const OTHER_ITEMS = ['event', 'error', 'constructor', 'fallback', 'receive']

/**
 * Reads the functions of an ABI. Events, errors and constructors are left out.
 * @throws CallProblem with the place of the first field that is not as an ABI has it
 */
export function readFunctions(abi: readonly unknown[], path: string): AbiFunction[] {
  return abi.flatMap((item, index) => readFunction(item, `${path}[${index}]`))
}

/**
 * Reads an ABI to keep it: its items with the fields that decide how calls, events and errors are encoded.
 * @throws CallProblem with the place of the first field that is not as an ABI has it
 */
export function readDocument(abi: readonly unknown[], path: string): Readonly<Record<string, unknown>>[] {
  return abi.map((item, index) => readItem(item, `${path}[${index}]`))
}

function readItem(item: unknown, path: string): Readonly<Record<string, unknown>> {
  const { type = 'function', name, inputs, outputs, stateMutability, anonymous } = readObject(item, path)
  if (type !== 'function' && !OTHER_ITEMS.includes(String(type)))
    throw new CallProblem(`${path}.type`, `expected function, ${OTHER_ITEMS.join(', ')}`)
  const isNamed = type === 'function' || type === 'event' || type === 'error'
  return {
    type,
    ...(isNamed && { name: readName(name, `${path}.name`) }),
    ...((isNamed || inputs !== undefined) && { inputs: readParameters(inputs ?? [], `${path}.inputs`) }),
    ...(outputs !== undefined && { outputs: readParameters(outputs, `${path}.outputs`) }),
    ...(isWord(stateMutability) && { stateMutability }),
    ...(typeof anonymous === 'boolean' && { anonymous }),
  }
}

function readFunction(item: unknown, path: string): AbiFunction[] {
  const { type = 'function', name, inputs = [] } = readObject(item, path)
  if (type !== 'function') return []
  return [{ type, name: readName(name, `${path}.name`), inputs: readParameters(inputs, `${path}.inputs`) }]
}

function readName(name: unknown, path: string): string {
  if (isWord(name)) return name
  throw new CallProblem(path, 'expected a name of letters, digits, _ and $')
}

/** Returns true for a name of Solidity, so that no text of an ABI is too strange to be stored or shown. */
function isWord(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z_$][\w$]{0,199}$/.test(name)
}

function readParameters(list: unknown, path: string): Parameter[] {
  if (!Array.isArray(list)) throw new CallProblem(path, 'expected a list of parameters')
  return list.map((item: unknown, index) => readParameter(item, `${path}[${index}]`))
}

function readParameter(item: unknown, path: string): Parameter {
  const { type, name, components, indexed } = readObject(item, path)
  if (typeof type !== 'string') throw new CallProblem(`${path}.type`, 'expected the name of a type')
  const canonical = type.length > MOST_TYPE_CHARACTERS ? '' : canonicalType(type)
  const [, base = ''] = /^([a-z0-9]+)(\[[0-9]*\])*$/.exec(canonical) ?? []
  if (base !== 'tuple' && !isAtom(base))
    throw new CallProblem(`${path}.type`, 'expected a type of Solidity, such as uint256, address[] or tuple')
  return {
    type: canonical,
    ...(isWord(name) && { name }),
    ...(base === 'tuple' && { components: readParameters(components, `${path}.components`) }),
    ...(typeof indexed === 'boolean' && { indexed }),
  }
}
