import type { Hex } from 'viem'
import { keccak256Hex } from '../../../lib/hash.ts'
import { CallProblem, type CallResult, callResult, readObject } from '../../call.ts'
import type { ReadAbi } from '../content.ts'

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

/** An event of a contract; `indexed` of a parameter tells that a topic has it. */
export interface AbiEvent {
  readonly name: string
  readonly inputs: readonly Parameter[]
}

/** Types that are neither arrays nor tuples. */
const ATOM =
  /^(address|bool|string|bytes([1-9]|[12][0-9]|3[0-2])?|u?int(8|16|24|32|40|48|56|64|72|80|88|96|1[0-9][0-9]|2[0-5][0-9]))$/

/** Returns true for the canonical name of a type that is neither an array nor a tuple. */
function isAtom(type: string): boolean {
  const [, bits] = /^u?int([0-9]+)$/.exec(type) ?? []
  return ATOM.test(type) && (bits === undefined || Number(bits) % 8 === 0)
}

/** Returns the canonical name of a type: `uint` is `uint256`. */
function canonicalType(type: string): string {
  return type.replace(/^(u?int)(?=\[|$)/, '$1256')
}

/** Writes a function as its selector is computed, or an event as its topic: `transfer(address,uint256)`. */
export function signatureOf({ name, inputs }: AbiFunction | AbiEvent): string {
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

/** Returns true if each parameter has a unique name, so that an object can have their values. */
export function haveNames(parameters: readonly Parameter[]): boolean {
  const names = parameters.map(({ name = '' }) => name)
  return new Set(names).size === names.length && !names.includes('')
}

/**
 * Reads the signature of a function, with or without names of its parameters: `pay((address to,uint256
 * value)[])`. The parser of viem keeps every parameter that it has ever read, which callers could fill the
 * memory with.
 * @throws CallProblem
 */
export function parseSignature(text: string): AbiFunction {
  const tokens = text.match(/[A-Za-z_$][\w$]*|\[[0-9]*\]|\S/g) ?? []
  const [name = ''] = tokens.splice(0, 1)
  if (!/^[A-Za-z_$]/.test(name)) throw unreadable()
  const inputs = readTuple(tokens)
  if (tokens.length > 0) throw unreadable()
  return { type: 'function', name, inputs }
}

/** Takes the part in parentheses from the beginning of the tokens. */
function readTuple(tokens: string[]): Parameter[] {
  take(tokens, '(')
  const parameters: Parameter[] = []
  while (tokens[0] !== ')') {
    if (parameters.length > 0) take(tokens, ',')
    parameters.push(parseParameter(tokens))
  }
  take(tokens, ')')
  return parameters
}

function parseParameter(tokens: string[]): Parameter {
  const components = tokens[0] === '(' ? readTuple(tokens) : undefined
  const base = components === undefined ? readAtom(tokens) : 'tuple'
  let type = base
  while (tokens[0]?.startsWith('[')) type += tokens.shift()
  const name = /^[A-Za-z_$]/.test(tokens[0] ?? '') ? tokens.shift() : undefined
  return { type, name, components }
}

function readAtom(tokens: string[]): string {
  const type = canonicalType(tokens.shift() ?? '')
  if (isAtom(type)) return type
  throw new CallProblem('call.function', `${type === '' ? 'the end' : type} is not a Solidity type`)
}

function take(tokens: string[], expected: string): void {
  if (tokens.shift() !== expected) throw unreadable()
}

function unreadable(): CallProblem {
  return new CallProblem('call.function', 'expected a signature such as transfer(address,uint256)')
}

/**
 * Functions of standards that many contracts follow. Two standards share a few of them; a parameter that
 * means different things has no name.
 */
const SIGNATURES = [
  // ERC-20
  'transfer(address to, uint256 value)',
  'approve(address spender, uint256)',
  'transferFrom(address from, address to, uint256)',
  'increaseAllowance(address spender, uint256 addedValue)',
  'decreaseAllowance(address spender, uint256 subtractedValue)',
  'mint(address to, uint256)',
  'burn(uint256)',
  'burnFrom(address from, uint256 value)',
  // ERC-2612
  'permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  // ERC-3009
  'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  // ERC-721
  'safeTransferFrom(address from, address to, uint256 tokenId)',
  'safeTransferFrom(address from, address to, uint256 tokenId, bytes data)',
  'setApprovalForAll(address operator, bool approved)',
  // ERC-1155
  'safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)',
  'safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)',
  // WETH
  'deposit()',
  'withdraw(uint256 amount)',
  // ERC-4626
  'deposit(uint256 assets, address receiver)',
  'mint(uint256 shares, address receiver)',
  'withdraw(uint256 assets, address receiver, address owner)',
  'redeem(uint256 shares, address receiver, address owner)',
  // Permit2
  'approve(address token, address spender, uint160 amount, uint48 expiration)',
  'permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 sigDeadline) permitSingle, bytes signature)',
  'transferFrom(address from, address to, uint160 amount, address token)',
  'permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)',
  // ERC-173
  'transferOwnership(address newOwner)',
  'renounceOwnership()',
  // Multicall
  'multicall(bytes[] data)',
]

/** The functions of standards, by selector. */
export const STANDARD_FUNCTIONS: ReadonlyMap<string, AbiFunction> = new Map(
  SIGNATURES.map(parseSignature).map((called) => [selectorOf(called), called]),
)

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
 * Reads the events of an ABI. Anonymous ones are left out, because no topic names them.
 * @throws CallProblem with the place of the first field that is not as an ABI has it
 */
export function readEvents(abi: readonly unknown[], path: string): AbiEvent[] {
  return abi.flatMap((item, index) => {
    const { type, name, inputs = [], anonymous } = readObject(item, `${path}[${index}]`)
    if (type !== 'event' || anonymous === true) return []
    const at = `${path}[${index}]`
    return [{ name: readName(name, `${at}.name`), inputs: readParameters(inputs, `${at}.inputs`) }]
  })
}

/**
 * Reads an ABI to keep it: its items with the fields that decide how calls, events and errors are encoded.
 * @throws CallProblem with the place of the first field that is not as an ABI has it
 */
function readDocument(abi: readonly unknown[], path: string): Readonly<Record<string, unknown>>[] {
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

/**
 * Reads an ABI that a caller registers for a contract. A refusal begins with the place, from `abi` on. Pure.
 */
export function readAbi(abi: readonly unknown[]): CallResult<ReadAbi> {
  return callResult(() => read(abi))
}

function read(abi: readonly unknown[]): ReadAbi {
  const functions = readFunctions(abi, 'abi').map((one) => [selectorOf(one), one] as const)
  return { document: readDocument(abi, 'abi'), functions: Object.fromEntries(functions) }
}
