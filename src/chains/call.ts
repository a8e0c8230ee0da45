import type { Answer, EvmLog } from './answer.ts'
import type { DecodedCall, DecodedEvent, NamedCall, ReadAbi, RegisteredFunctions } from './evm/content.ts'

/**
 * Calls of contracts can be written and read by the names of functions, and contracts can have a registered
 * ABI.
 */
export interface ContractCalls {
  /**
   * Encodes a call by the name of its function, as `0x` hex. A refusal begins with the field, from `call` on.
   */
  encode(call: NamedCall, registered?: RegisteredFunctions): CallResult<string>
  /** Reads the ABI that a caller registers for a contract. A refusal begins with the place, from `abi` on. */
  readAbi(abi: readonly unknown[]): CallResult<ReadAbi>
  /**
   * Returns the key under which `ReadAbi.functions` has the called function; undefined for data that calls
   * none.
   */
  keyOf(data: string): string | undefined
  /**
   * Decodes data, with the function of the registered ABI where there is one. Any data and any function give
   * an answer.
   */
  decode(data: string, registered?: unknown): DecodedCall | undefined
  /**
   * Decodes a log, with the items of the registered ABI where there is one. Any log and any items give an
   * answer.
   */
  decodeEvent(log: EvmLog, registered?: readonly unknown[]): DecodedEvent | undefined
}

/** A call by name does not fit its function. The message names the field and is written for the caller. */
export class CallProblem extends Error {
  override readonly name = 'CallProblem'

  constructor(path: string, expected: string) {
    super(`${path}: ${expected}.`)
  }
}

/** The result of an encoder or a reader that needs no network. */
export type CallResult<T> = Exclude<Answer<T>, { readonly kind: 'unknown' }>

/** Runs an encoder or a reader. The refusal of a call that does not fit has the message of its problem. */
export function callResult<T>(encode: () => T): CallResult<T> {
  try {
    return { kind: 'ok', value: encode() }
  } catch (error) {
    if (!(error instanceof CallProblem)) throw error
    return { kind: 'refused', refusal: { code: 'invalid_request', detail: error.message } }
  }
}

/** The expected fields of an object. */
interface ExpectedFields {
  readonly names: readonly string[]
  /** Returns true for a name that the object may omit. Default: none. */
  readonly mayLack?: (name: string) => boolean
}

/**
 * Returns the fields of a JSON object in the order of the names; undefined for one that is left out.
 * @throws CallProblem for another value, a missing field, and a field that is not among the names
 */
export function readFields(value: unknown, path: string, { names, mayLack }: ExpectedFields): unknown[] {
  const fields = readObject(value, path)
  const expected = new Set(names)
  if (Object.keys(fields).some((field) => !expected.has(field)))
    throw new CallProblem(
      path,
      names.length === 0 ? 'expected no fields' : `expected the fields ${listOf(names)}, and no others`,
    )
  return names.map((name) => {
    if (Object.hasOwn(fields, name)) return fields[name]
    if (mayLack?.(name) === true) return undefined
    throw new CallProblem(`${path}.${name}`, 'is required')
  })
}

/**
 * Returns a JSON object.
 * @throws CallProblem for any other value
 */
export function readObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>
  throw new CallProblem(path, 'expected an object')
}

/**
 * Returns a JSON list.
 * @throws CallProblem for any other value, and for a list of another length than `length`
 */
export function readList(value: unknown, path: string, length?: number): readonly unknown[] {
  if (Array.isArray(value) && (length === undefined || value.length === length)) return value
  throw new CallProblem(path, `expected a list${length === undefined ? '' : ` of ${length} values`}`)
}

/** A sentence has this many names at most. */
const MOST_NAMED = 10

/** Lists names for a sentence. */
export function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const named = names.slice(0, MOST_NAMED).join(', ')
  return names.length > MOST_NAMED ? `${named} and others` : named
}
