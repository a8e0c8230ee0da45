import { type Abi, type AbiParameter, getAbiItem, type Hex, hexToBigInt, size, slice } from 'viem'

/** The same bytes with other padding would be another content, so there is one form. @throws any error for others */
export function refusePadded(data: Hex, canonical: Hex): void {
  if (data.toLowerCase() !== canonical.toLowerCase()) throw new Error('not the canonical encoding')
}

/** Bytes of a value of the ABI, or of an offset or length. */
const WORD = 32

/**
 * Refuses data in which offsets lead anywhere but behind what comes before, without decoding it: a thousand of
 * them that lead to the same kilobytes would be gigabytes. What is not refused decodes to what it has.
 * @throws any error
 */
export function refuseShared(types: readonly AbiParameter[], data: Hex): void {
  const end = size(data)
  const numberAt = (at: number): number => {
    const number = hexToBigInt(slice(data, at, at + WORD, { strict: true }))
    if (number > BigInt(end)) throw new Error('more than there is')
    return Number(number)
  }
  const endOf = (type: AbiParameter, at: number): number => {
    const item = itemOf(type)
    if (item) return endOfAll(new Array<AbiParameter>(numberAt(at)).fill(item), at + WORD)
    if ('components' in type) return endOfAll(type.components, at)
    return at + WORD + (isDynamic(type) ? Math.ceil(numberAt(at) / WORD) * WORD : 0)
  }
  const endOfAll = (all: readonly AbiParameter[], begin: number): number => {
    let head = begin
    let next = begin + sizeOf(all)
    if (next > end) throw new Error('less than it says')
    for (const type of all) {
      if (isDynamic(type)) {
        if (begin + numberAt(head) !== next) throw new Error('an offset leads elsewhere')
        next = endOf(type, next)
      }
      head += sizeOf([type])
    }
    return next
  }
  if (endOfAll(types, 0) !== end) throw new Error('not the canonical encoding')
}

/** Refuses a call of a contract with such arguments, and one of another function. @throws any error */
export function refuseSharedIn(abi: Abi, data: Hex): void {
  const called = getAbiItem({ abi, name: slice(data, 0, 4) })
  if (called?.type !== 'function') throw new Error('another function')
  refuseShared(called.inputs, slice(data, 4))
}

/** The type of what a list has; undefined for other types. Lists of a fixed length are not read. */
function itemOf(type: AbiParameter): AbiParameter | undefined {
  return type.type.endsWith('[]') ? { ...type, type: type.type.slice(0, -2) } : undefined
}

function isDynamic(type: AbiParameter): boolean {
  if (type.type.endsWith('[]') || type.type === 'bytes' || type.type === 'string') return true
  return 'components' in type && type.components.some(isDynamic)
}

/** The bytes of the values of these types, or of the offsets that lead to them. */
function sizeOf(types: readonly AbiParameter[]): number {
  return types.reduce(
    (sum, type) => sum + (!isDynamic(type) && 'components' in type ? sizeOf(type.components) : WORD),
    0,
  )
}
