import type { AbiParameter, Hex } from 'viem'
import { concatHex, encodeAbiParameters } from 'viem/utils'
import { CallProblem, type CallResult, callResult, listOf, readFields } from '../../call.ts'
import type { NamedCall, RegisteredFunctions } from '../content.ts'
import { atomEncoder, type ChainIds, readInteger, TypedDataProblem } from '../typed-data.ts'
import {
  type AbiFunction,
  haveNames,
  type Parameter,
  parseSignature,
  readFunctions,
  selectorOf,
  signatureOf,
} from './abi.ts'

/** No node takes more data of a transaction, in bytes; `data` of a request has the same limit. */
const MAX_DATA_BYTES = 131_072

/**
 * Each value takes a word of 32 bytes at least. More values are refused before they are read, because reading
 * them takes time.
 */
const MAX_VALUES = MAX_DATA_BYTES / 32

/**
 * Encodes a call by name as the data of a transaction. A refusal begins with the field, from `call` on.
 * `chainIds` are those that checksums of addresses may contain. Pure.
 */
export function encodeCall(
  call: NamedCall,
  registered?: RegisteredFunctions,
  chainIds?: ChainIds,
): CallResult<Hex> {
  return callResult(() => encode(call, findFunction(call, registered), chainIds))
}

function encode({ args = [] }: NamedCall, called: AbiFunction, chainIds: ChainIds): Hex {
  const { inputs } = called
  if (Array.isArray(args) && args.length !== inputs.length)
    throw new CallProblem(
      'call.args',
      `expected ${inputs.length} arguments of ${signatureOf(called)}, not ${args.length}`,
    )
  if (countValues(args) > MAX_VALUES)
    throw new CallProblem(
      'call.args',
      `expected at most ${MAX_VALUES} values, which are ${MAX_DATA_BYTES} bytes of data`,
    )
  const values = readTuple(inputs, args, { path: 'call.args', chainIds })
  const data = concatHex([selectorOf(called), encodeAbiParameters(inputs as readonly AbiParameter[], values)])
  const bytes = data.length / 2 - 1
  if (bytes <= MAX_DATA_BYTES) return data
  throw new CallProblem('call.args', `expected at most ${MAX_DATA_BYTES} bytes of data, not ${bytes}`)
}

/** Counts the values inside of lists and objects. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, item) => sum + countValues(item), 0)
}

/**
 * Finds the function of a call: by its signature, or by its name in the ABI of the call or in the one that is
 * registered for the contract.
 * @throws CallProblem
 */
function findFunction({ function: wanted, abi }: NamedCall, registered?: RegisteredFunctions): AbiFunction {
  const signature = wanted.includes('(') ? parseSignature(wanted) : undefined
  if (abi !== undefined) return findIn({ wanted, signature }, readFunctions(abi, 'call.abi'), 'call.abi')
  if (signature !== undefined) return withNames(signature, registered)
  if (registered === undefined)
    throw new CallProblem(
      'call.function',
      'expected a signature such as transfer(address,uint256), or the function in call.abi',
    )
  if (registered.functions === undefined)
    throw new CallProblem(
      'call.function',
      `no ABI is registered for ${registered.contract}; expected a signature such as transfer(address,uint256), or the function in call.abi, or register the ABI with PUT ${registered.path}`,
    )
  const functions = readFunctions(registered.functions, 'call.abi')
  return findIn({ wanted, signature }, functions, `the ABI that is registered for ${registered.contract}`)
}

/**
 * The names of the registered function fill in for those missing in the signature. An unregistered function
 * can still be called.
 */
function withNames(signature: AbiFunction, registered: RegisteredFunctions | undefined): AbiFunction {
  if (registered?.functions === undefined || hasNames(signature.inputs)) return signature
  const text = signatureOf(signature)
  return readFunctions(registered.functions, 'call.abi').find((one) => signatureOf(one) === text) ?? signature
}

function hasNames(parameters: readonly Parameter[]): boolean {
  return parameters.some(({ name, components = [] }) => name !== undefined || hasNames(components))
}

function findIn(
  { wanted, signature }: { readonly wanted: string; readonly signature: AbiFunction | undefined },
  functions: readonly AbiFunction[],
  source: string,
): AbiFunction {
  const text = signature && signatureOf(signature)
  const fitting = functions.filter((one) =>
    text === undefined ? one.name === wanted : signatureOf(one) === text,
  )
  const [found, another] = fitting
  if (found === undefined)
    throw new CallProblem(
      'call.function',
      `expected a function of ${source}, which has ${listOf(functions.map(signatureOf))}`,
    )
  if (another !== undefined && text === undefined)
    throw new CallProblem(
      'call.function',
      `several have this name; expected one of ${listOf(fitting.map(signatureOf))}`,
    )
  return found
}

/**
 * Reads the JSON value of a parameter in the form that viem encodes: integers as bigint, tuples as lists.
 * @throws CallProblem with the place of the first value that does not fit
 */
function readArgument(parameter: Parameter, value: unknown, location: Location): unknown {
  const [, item, count = ''] = /^(.+)\[([0-9]*)\]$/.exec(parameter.type) ?? []
  if (item !== undefined) return readList({ ...parameter, type: item }, value, { ...location, count })
  if (parameter.components !== undefined) return readTuple(parameter.components, value, location)
  return readAtom(parameter.type, value, location)
}

interface Location {
  readonly path: string
  readonly chainIds: ChainIds
}

function readList(
  item: Parameter,
  value: unknown,
  { path, count, chainIds }: Location & { readonly count: string },
): unknown[] {
  if (!Array.isArray(value) || (count !== '' && value.length !== Number(count)))
    throw new CallProblem(path, `expected a list${count === '' ? '' : ` of ${count} values`}`)
  return value.map((one: unknown, index) => readArgument(item, one, { path: `${path}[${index}]`, chainIds }))
}

/**
 * Reads the JSON values of parameters, from a list or from an object with their names.
 * @throws CallProblem with the place of the first value that does not fit
 */
function readTuple(
  components: readonly Parameter[],
  value: unknown,
  { path, chainIds }: Location,
): unknown[] {
  const values = Array.isArray(value) ? value : fieldsOf(components, value, path)
  if (values.length !== components.length)
    throw new CallProblem(path, `expected ${components.length} values, as many as the tuple has`)
  return components.map((component, index) =>
    readArgument(component, values[index], {
      path: `${path}${pathOf(component, index, Array.isArray(value))}`,
      chainIds,
    }),
  )
}

function pathOf({ name }: Parameter, index: number, inOrder: boolean): string {
  return inOrder ? `[${index}]` : `.${name}`
}

/** Gives the fields of an object in the order of the tuple. */
function fieldsOf(components: readonly Parameter[], value: unknown, path: string): unknown[] {
  const names = components.map(({ name = '' }) => name)
  const isNamed = haveNames(components)
  if (typeof value !== 'object' || value === null || !isNamed)
    throw new CallProblem(
      path,
      `expected a list of values${isNamed ? ', or an object' : ', because some have no unique name'}`,
    )
  return readFields(value, path, { names })
}

/** The encoder of structured data checks the same types by the same rules. */
function readAtom(type: string, value: unknown, { path, chainIds }: Location): unknown {
  try {
    atomEncoder(type, chainIds)?.(value, path)
  } catch (error) {
    if (!(error instanceof TypedDataProblem)) throw error
    throw new CallProblem(path, `expected a value of type ${type}; ${error.expected}`)
  }
  if (/^u?int/.test(type)) return readInteger(value)
  return type === 'string' || type === 'bool' ? value : String(value).toLowerCase()
}
