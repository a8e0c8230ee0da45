import type { Parameter } from './abi.ts'

/** The bytes of a word of encoded values. */
const WORD = 32

/**
 * Returns true when the encoded values lie behind each other as every encoder writes them. A decoder follows each offset to wherever it points,
 * so a few kilobytes of data could make it read the same bytes thousands of times; here the time is linear. No value is read.
 */
export function isCompact(inputs: readonly Parameter[], data: Buffer): boolean {
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
    // Refused before the list is made: a count can be any number, also of values that take no room, and then the product is none.
    if (least === 0 || !(count * least <= data.length - first)) throw new NotCompact()
    return endOf(new Array<Parameter>(count).fill(list.item), data, first)
  }
  if (components.length > 0) return endOf(components, data, start)
  return start + WORD + Math.ceil(numberAt(data, start) / WORD) * WORD
}

/** The bytes that each value of the type takes; undefined for a type whose values differ, which stand behind an offset. */
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
