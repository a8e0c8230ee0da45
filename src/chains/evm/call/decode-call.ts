import type { AbiParameter, Hex } from 'viem'
import { decodeAbiParameters, encodeAbiParameters } from 'viem/utils'
import { CallProblem } from '../../call.ts'
import type { DecodedCall, ShownValue } from '../content.ts'
import {
  type AbiFunction,
  haveNames,
  type Parameter,
  readFunctions,
  STANDARD_FUNCTIONS,
  signatureOf,
  typeOf,
} from './abi.ts'

/** The first four bytes, in `0x` hex. */
const SELECTOR_CHARACTERS = 10

/**
 * Longer data is not decoded, in bytes: a list shows a hundred transactions, and decoding takes time and
 * room.
 */
export const MAX_BYTES = 16_384

/**
 * A longer decoded call is not shown, in characters of JSON. The names of an ABI can be much longer than the
 * data.
 */
const MAX_CHARACTERS = 65_536

/**
 * Data with more words than this for each level of its lists is not decoded: every value is read once for
 * each list around it. This takes about 5 ms; sixteen kilobytes in lists of thirty levels would take 180.
 */
const MAX_WORDS_BY_LEVELS = 1_024

/** The bytes of a word of encoded values. */
const WORD = 32

/**
 * A function with more parameters, those of tuples included, is not decoded: each value takes time for all of
 * them.
 */
const MAX_PARAMETERS = 256

/**
 * Returns the selector in the data of a transaction, under which `ReadAbi.functions` has the function;
 * undefined for data that calls none.
 */
export function callKey(data: string): string | undefined {
  return data.length < SELECTOR_CHARACTERS ? undefined : data.slice(0, SELECTOR_CHARACTERS).toLowerCase()
}

/**
 * Decodes the data of a transaction as a call: of the function of a standard with its selector, else of the
 * registered one. Functions of other names with a given selector are found in minutes, and must not hide what
 * a transfer is. Data that is not exactly what an encoder writes for these arguments is not decoded, because
 * a contract could read something else from it. Pure.
 *
 * @param registered an item of `ReadAbi.functions`
 */
export function decodeCall(data: string, registered?: unknown): DecodedCall | undefined {
  const key = callKey(data)
  if (key === undefined || data.length / 2 - 1 > MAX_BYTES) return undefined
  const standard = STANDARD_FUNCTIONS.get(key)
  const known = standard && decodeAs(standard, data, 'standard')
  if (known !== undefined || registered === undefined) return known
  const own = readStored(registered)
  return own && decodeAs(own, data, 'registered')
}

/** A stored function that would be refused now is unknown: it makes no answer fail. */
function readStored(registered: unknown): AbiFunction | undefined {
  try {
    return readFunctions([registered], 'functions')[0]
  } catch (error) {
    if (error instanceof CallProblem) return undefined
    throw error
  }
}

function decodeAs(called: AbiFunction, data: string, source: DecodedCall['source']): DecodedCall | undefined {
  const values = decodeValues(called.inputs, data.slice(SELECTOR_CHARACTERS).toLowerCase())
  if (values === undefined) return undefined
  const args = called.inputs.map((input, index) => ({
    name: input.name ?? null,
    type: typeOf(input),
    value: showValue(input, values[index]),
  }))
  const decoded = { function: signatureOf(called), source, args }
  return JSON.stringify(decoded).length > MAX_CHARACTERS ? undefined : decoded
}

/**
 * Decodes values, in hexadecimal digits of lower case without `0x`; undefined for what an encoder would write
 * otherwise, and for what would take too long. `showValue` writes each for people. Pure.
 */
export function decodeValues(inputs: readonly Parameter[], encoded: string): unknown[] | undefined {
  if (countParameters(inputs) > MAX_PARAMETERS) return undefined
  const words = encoded.length / 2 / WORD
  if (words * levelsOf(inputs) > MAX_WORDS_BY_LEVELS) return undefined
  if (!isCompact(inputs, Buffer.from(encoded, 'hex'))) return undefined
  const values = decodeExactly(inputs, `0x${encoded}`)
  return values && [...values]
}

function countParameters(parameters: readonly Parameter[]): number {
  return parameters.reduce((sum, { components = [] }) => sum + 1 + countParameters(components), 0)
}

/** Returns the most lists and tuples around a value. */
function levelsOf(parameters: readonly Parameter[]): number {
  return parameters.reduce((most, { type, components = [] }) => {
    const lists = type.match(/\[/g)?.length ?? 0
    return Math.max(most, lists + (components.length === 0 ? 0 : 1 + levelsOf(components)))
  }, 0)
}

/** Returns undefined for data that an encoder would write otherwise. */
function decodeExactly(inputs: readonly Parameter[], encoded: Hex): readonly unknown[] | undefined {
  // Without names, viem gives every tuple as a list: as an object, it would lose a component whose name
  // another one has.
  const types = inputs.map(withoutNames)
  try {
    const values: readonly unknown[] = decodeAbiParameters(types, encoded)
    return encodeAbiParameters(types, values) === encoded ? values : undefined
  } catch {
    // Decoding has no other effect, so there is nothing but data that does not fit its types.
    return undefined
  }
}

function withoutNames({ type, components }: Parameter): AbiParameter {
  return components === undefined ? { type } : { type, components: components.map(withoutNames) }
}

/** Writes a decoded value of this type as JSON. Pure. */
export function showValue(parameter: Parameter, value: unknown): ShownValue {
  const [, item] = /^(.+)\[[0-9]*\]$/.exec(parameter.type) ?? []
  if (item !== undefined)
    return (value as readonly unknown[]).map((one) => showValue({ ...parameter, type: item }, one))
  if (parameter.components !== undefined) return showTuple(parameter.components, value as readonly unknown[])
  return typeof value === 'boolean' ? value : String(value)
}

function showTuple(components: readonly Parameter[], values: readonly unknown[]): ShownValue {
  const shown = components.map((component, index) => showValue(component, values[index]))
  if (!haveNames(components)) return shown
  return Object.fromEntries(components.map(({ name = '' }, index) => [name, shown[index] ?? '']))
}

/**
 * Returns true if the encoded values lie behind each other as every encoder writes them. A decoder follows
 * each offset to wherever it points, so a few kilobytes of data could make it read the same bytes thousands
 * of times; here the time is linear. No value is read.
 */
function isCompact(inputs: readonly Parameter[], data: Buffer): boolean {
  try {
    return endOf(inputs, data, 0) === data.length
  } catch (error) {
    if (error instanceof NotCompact) return false
    throw error
  }
}

class NotCompact extends Error {
  override readonly name = 'NotCompact'
}

/** Returns the end of a sequence of values, whose offsets count from its start. */
function endOf(parameters: readonly Parameter[], data: Buffer, start: number): number {
  let head = start
  let tail = start + parameters.reduce((sum, parameter) => sum + (staticSize(parameter) ?? WORD), 0)
  for (const parameter of parameters) {
    const size = staticSize(parameter)
    if (size === 0 || tail > data.length) throw new NotCompact()
    if (size === undefined) {
      if (start + numberAt(data, head) !== tail) throw new NotCompact()
      tail = endOfDynamic(parameter, data, tail)
    }
    head += size ?? WORD
  }
  return tail
}

function endOfDynamic(parameter: Parameter, data: Buffer, start: number): number {
  const { components = [] } = parameter
  const list = listOf(parameter)
  if (list !== undefined) {
    const count = list.count ?? numberAt(data, start)
    const first = list.count === undefined ? start + WORD : start
    const least = staticSize(list.item) ?? WORD
    // Refused before the list is made: a count can be any number, also of values that take no room, and then
    // the product is none.
    if (least === 0 || !(count * least <= data.length - first)) throw new NotCompact()
    return endOf(new Array<Parameter>(count).fill(list.item), data, first)
  }
  if (components.length > 0) return endOf(components, data, start)
  return start + WORD + Math.ceil(numberAt(data, start) / WORD) * WORD
}

/**
 * The bytes that each value of the type takes; undefined for a type whose values differ in size and are
 * behind an offset.
 */
function staticSize(parameter: Parameter): number | undefined {
  const list = listOf(parameter)
  if (list !== undefined) {
    const size = list.count === undefined ? undefined : staticSize(list.item)
    return size === undefined || list.count === undefined ? undefined : size * list.count
  }
  if (parameter.components !== undefined) return parameter.components.map(staticSize).reduce(sumOf, 0)
  return parameter.type === 'bytes' || parameter.type === 'string' ? undefined : WORD
}

function sumOf(sum: number | undefined, size: number | undefined): number | undefined {
  return sum === undefined || size === undefined ? undefined : sum + size
}

interface List {
  readonly item: Parameter
  /** Undefined for a list of any length. */
  readonly count: number | undefined
}

function listOf({ type, ...parameter }: Parameter): List | undefined {
  const [, item, digits = ''] = /^(.+)\[([0-9]*)\]$/.exec(type) ?? []
  if (item === undefined) return undefined
  return { item: { ...parameter, type: item }, count: digits === '' ? undefined : Number(digits) }
}

/** Reads a word as a number. One beyond the data is refused, so no digit is lost. */
function numberAt(data: Buffer, at: number): number {
  if (at + WORD > data.length) throw new NotCompact()
  const word = BigInt(`0x${data.toString('hex', at, at + WORD)}`)
  if (word > BigInt(data.length)) throw new NotCompact()
  return Number(word)
}
