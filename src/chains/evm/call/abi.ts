/** A parameter of a function, or a component of a tuple, as an ABI has it. */
export interface Parameter {
  /** The canonical name of the type; a tuple is `tuple`, and arrays have their brackets: `tuple[2][]`. */
  readonly type: string
  readonly name?: string | undefined
  /** Those of a tuple, or of the tuples of an array. */
  readonly components?: readonly Parameter[] | undefined
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

function typeOf({ type, components = [] }: Parameter): string {
  return type.replace(/^tuple/, () => `(${components.map(typeOf).join(',')})`)
}
