import type { Hex } from 'viem'
import { keccak256Hex } from '../../../lib/keccak256.ts'

/** A parameter of a function, or a component of a tuple, as an ABI has it. */
export interface Parameter {
  /** The canonical name of the type; a tuple is `tuple`, and arrays have their brackets: `tuple[2][]`. */
  readonly type: string
  readonly name?: string | undefined
  /** Those of a tuple, or of the tuples of an array. */
  readonly components?: readonly Parameter[] | undefined
  /** Only of events. */
  readonly indexed?: boolean
}

/** A function of a contract. */
export interface AbiFunction {
  readonly type: 'function'
  readonly name: string
  readonly inputs: readonly Parameter[]
}

/** Types that are neither arrays nor tuples. */
const ATOM =
  /^(address|bool|string|bytes([1-9]|[12][0-9]|3[0-2])?|u?int(8|16|24|32|40|48|56|64|72|80|88|96|1[0-9][0-9]|2[0-5][0-9]))$/

/** Returns true for the canonical name of a type that is neither an array nor a tuple. */
export function isAtom(type: string): boolean {
  const [, bits] = /^u?int([0-9]+)$/.exec(type) ?? []
  return ATOM.test(type) && (bits === undefined || Number(bits) % 8 === 0)
}

/** Returns the canonical name of a type: `uint` is `uint256`. */
export function canonicalType(type: string): string {
  return type.replace(/^(u?int)(?=\[|$)/, '$1256')
}

/** Writes a function as its selector is computed: `transfer(address,uint256)`. */
export function signatureOf({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map(typeOf).join(',')})`
}

/** Writes a type as signatures have it: `(address,uint256)[]` for an array of tuples. */
export function typeOf({ type, components = [] }: Parameter): string {
  return type.replace(/^tuple/, () => `(${components.map(typeOf).join(',')})`)
}

/** Returns the first four bytes of the data of every call of the function. */
export function selectorOf(called: AbiFunction): Hex {
  return keccak256Hex(Buffer.from(signatureOf(called))).slice(0, 10) as Hex
}

/** Returns true when each of the parameters has a name of its own, so that an object can have their values. */
export function haveNames(parameters: readonly Parameter[]): boolean {
  const names = parameters.map(({ name = '' }) => name)
  return new Set(names).size === names.length && !names.includes('')
}
