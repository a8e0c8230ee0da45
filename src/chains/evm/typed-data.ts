import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Hex } from 'viem'
import { concat, hashStruct, hexToBytes, padHex, toHex } from 'viem/utils'
import { hasWrongChecksum, RIGHT_CHECKSUM } from '../../lib/evm-address.ts'
import { keccak256Hex } from '../../lib/hash.ts'
import type { Signer } from '../../signers/signer.ts'
import type { Answer } from '../answer.ts'
import type { Signature } from '../attempt.ts'
import type { TypedData, TypedDocument, TypedField } from './content.ts'
import { signEncoded } from './sign.ts'

/**
 * Signs structured data (EIP-712). Refuses a document that does not match its types, and data that is a
 * transaction (docs/signatures.md); the refusal names the field. `chainId` is that of the network, whose
 * wallets may write checksums with it (EIP-1191).
 */
export async function signTypedData(
  data: TypedData,
  signer: Signer,
  chainId?: number,
): Promise<Exclude<Answer<Signature>, { kind: 'unknown' }>> {
  try {
    refuseTransaction(data)
    return { kind: 'ok', value: await signEncoded(hexToBytes(await inTurns(encode(data, chainId))), signer) }
  } catch (error) {
    if (!(error instanceof TypedDataProblem)) throw error
    return { kind: 'refused', refusal: { code: 'invalid_request', detail: error.message } }
  }
}

/**
 * Encodes the bytes whose hash is signed.
 * @throws TypedDataProblem
 */
function* encode(data: TypedData, chainId: number | undefined): Steps<Hex> {
  const hashes =
    data.kind === 'hashes'
      ? [data.domainSeparator as Hex, data.structHash as Hex]
      : yield* hashesOf(data, chainId)
  return concat(['0x1901', ...hashes])
}

/** A document that contains only its domain has no second hash. */
function* hashesOf(
  { domain, types, primaryType, message }: TypedDocument,
  chainId: number | undefined,
): Steps<Hex[]> {
  const complete = Object.hasOwn(types, DOMAIN) ? types : { ...types, [DOMAIN]: domainType(domain) }
  const domainChainId = readInteger(domain.chainId)
  const hashStruct = createStructHasher(
    complete,
    [chainId, domainChainId].filter((id) => id !== undefined),
  )
  const separator = yield* hashStruct(DOMAIN, domain, 'body.domain')
  if (primaryType !== DOMAIN) return [separator, yield* hashStruct(primaryType, message, 'body.message')]
  const [extra] = Object.keys(message)
  if (extra === undefined) return [separator]
  throw new TypedDataProblem(
    `body.message.${extra}`,
    'nothing is expected, because only the domain is signed',
  )
}

const DOMAIN = 'EIP712Domain'

/** The standard fields, in the order of the standard. */
const DOMAIN_FIELDS: readonly TypedField[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
]

function domainType(domain: TypedDocument['domain']): readonly TypedField[] {
  return DOMAIN_FIELDS.filter(({ name }) => Object.hasOwn(domain, name))
}

type Types = TypedDocument['types']

/**
 * Computes `hashStruct` of EIP-712 from the struct's type, its value, and its path in error messages; a step
 * for each value.
 */
type StructHasher = (type: string, value: unknown, path: string) => Steps<Hex>

/** Reads a value at a path, and returns the 32 bytes that encode it, like that of an atom but in steps. */
type Encoder = (value: unknown, path: string) => Steps<Hex>

/**
 * Creates a hasher for values of these types. It describes each type once, so that a long list of structs
 * costs no more than its values. `chainIds` are those that checksums of addresses may contain.
 * @throws TypedDataProblem if a value does not match its type, or a type does not exist
 */
function createStructHasher(types: Types, chainIds: ChainIds): StructHasher {
  const encoders = new Map<string, Encoder>()
  const encoderOf = (type: string, path: string): Encoder => {
    const known = encoders.get(type)
    if (known !== undefined) return known
    const encoder = makeEncoder(type, path)
    encoders.set(type, encoder)
    return encoder
  }
  const makeEncoder = (type: string, path: string): Encoder => {
    const [, item, count] = /^(.+)\[([0-9]*)\]$/.exec(type) ?? []
    if (item !== undefined) return arrayEncoder(encoderOf(item, path), count ? Number(count) : undefined)
    const atom = atomEncoder(type, chainIds)
    if (atom !== undefined) return inOneStep(atom)
    const fields = fieldsOf(types, type)
    if (fields === undefined)
      throw new TypedDataProblem(path, `${type} is not an EIP-712 type and not in types`)
    return structEncoder(keccak256Hex(Buffer.from(describeType(types, type))), fields, encoderOf)
  }
  return function* (type, value, path) {
    if (fieldsOf(types, type) !== undefined && atomEncoder(type) === undefined)
      return yield* encoderOf(type, path)(value, path)
    throw new TypedDataProblem('body.primaryType', 'the name of a struct in types is expected')
  }
}

function inOneStep(atom: AtomEncoder): Encoder {
  return function* (value, path) {
    yield
    return atom(value, path)
  }
}

function structEncoder(
  typeHash: Hex,
  fields: readonly TypedField[],
  encoderOf: (type: string, path: string) => Encoder,
): Encoder {
  const names = new Set(fields.map(({ name }) => name))
  return function* (value, path) {
    yield
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new TypedDataProblem(path, 'an object is expected')
    const unknownField = Object.keys(value).find((name) => !names.has(name))
    if (unknownField !== undefined)
      throw new TypedDataProblem(
        `${path}.${unknownField}`,
        'its type has no such field, so it would not be signed',
      )
    const words = [typeHash]
    for (const { name, type } of fields) {
      const at = `${path}.${name}`
      if (!Object.hasOwn(value, name)) throw new TypedDataProblem(at, `a value of type ${type} is expected`)
      words.push(yield* encoderOf(type, at)((value as Readonly<Record<string, unknown>>)[name], at))
    }
    return hashOf(words)
  }
}

function arrayEncoder(encodeItem: Encoder, count: number | undefined): Encoder {
  return function* (value, path) {
    yield
    if (!Array.isArray(value) || (count !== undefined && value.length !== count)) {
      const size = count === undefined ? '' : ` of ${count} items`
      throw new TypedDataProblem(path, `an array${size} is expected`)
    }
    const words: Hex[] = []
    for (const [index, item] of value.entries()) words.push(yield* encodeItem(item, `${path}[${index}]`))
    return hashOf(words)
  }
}

function hashOf(words: readonly Hex[]): Hex {
  return keccak256Hex(Buffer.from(words.map((word) => word.slice(2)).join(''), 'hex'))
}

/** Returns `encodeType`: the struct, then every struct that it refers to, by name. */
function describeType(types: Types, type: string): string {
  const others = [...referredBy(types, type, new Set())].filter((name) => name !== type).sort()
  return [type, ...others]
    .map((name) => {
      const fields = (fieldsOf(types, name) ?? []).map((field) => `${field.type} ${field.name}`)
      return `${name}(${fields.join(',')})`
    })
    .join('')
}

function referredBy(types: Types, type: string, found: Set<string>): Set<string> {
  if (found.has(type)) return found
  found.add(type)
  for (const field of fieldsOf(types, type) ?? []) {
    const name = field.type.replace(/(\[[0-9]*\])+$/, '')
    if (fieldsOf(types, name) !== undefined && atomEncoder(name) === undefined) referredBy(types, name, found)
  }
  return found
}

function fieldsOf(types: Types, name: string): readonly TypedField[] | undefined {
  return Object.hasOwn(types, name) ? types[name] : undefined
}

/** Reads a value of one type at a path, and returns the 32 bytes that encode it (EIP-712, `encodeData`). */
type AtomEncoder = (value: unknown, path: string) => Hex

const WORD = { size: 32 } as const

/**
 * A text with more characters is no integer of 256 bits, in decimal or hexadecimal digits, and is not parsed.
 */
const MOST_DIGITS = 80

/**
 * The chain ids that the checksum of an address may contain (EIP-1191). If absent, those of the networks that
 * do so.
 */
export type ChainIds = readonly (number | bigint)[] | undefined

/** Returns the encoder of a type that is neither a struct nor an array; undefined for an unknown type. */
export function atomEncoder(type: string, chainIds?: ChainIds): AtomEncoder | undefined {
  if (type === 'address') return addressEncoder(chainIds)
  const fixed = FIXED[type]
  if (fixed !== undefined) return fixed
  const [, family, digits = ''] = /^(uint|int|bytes)([1-9][0-9]*)$/.exec(type) ?? []
  const size = Number(digits)
  if (family === 'bytes') return size <= 32 ? bytesEncoder(size) : undefined
  if (family === undefined || size > 256 || size % 8 !== 0) return undefined
  return integerEncoder(family === 'int', size)
}

const FIXED: Readonly<Record<string, AtomEncoder | undefined>> = Object.assign(Object.create(null), {
  bytes: hexEncoder(undefined, (hex) => keccak256Hex(Buffer.from(hex.slice(2), 'hex'))),
  bool: (value: unknown, path: string) => {
    if (typeof value === 'boolean') return toHex(value, WORD)
    throw new TypedDataProblem(path, 'true or false is expected')
  },
  string: (value: unknown, path: string) => {
    if (typeof value === 'string') return keccak256Hex(Buffer.from(value))
    throw new TypedDataProblem(path, 'a string is expected')
  },
})

function addressEncoder(chainIds: ChainIds): AtomEncoder {
  const encode = hexEncoder(20, (hex) => padHex(hex, WORD))
  return (value, path) => {
    const word = encode(value, path)
    if (hasWrongChecksum(String(value), chainIds)) throw new TypedDataProblem(path, RIGHT_CHECKSUM)
    return word
  }
}

function bytesEncoder(size: number): AtomEncoder {
  return hexEncoder(size, (hex) => padHex(hex, { ...WORD, dir: 'right' }))
}

/** Encodes bytes, written as `0x` hex in any letter case; `size` is undefined for any number of bytes. */
function hexEncoder(size: number | undefined, encode: (hex: Hex) => Hex): AtomEncoder {
  return (value, path) => {
    const fits =
      typeof value === 'string' &&
      /^0x([0-9a-fA-F]{2})*$/.test(value) &&
      (size === undefined || value.length === 2 + 2 * size)
    if (fits) return encode(value.toLowerCase() as Hex)
    const count = size === undefined ? 'an even number of' : `${2 * size}`
    throw new TypedDataProblem(path, `0x and ${count} hexadecimal digits are expected`)
  }
}

function integerEncoder(signed: boolean, bits: number): AtomEncoder {
  const range = 1n << BigInt(bits)
  const [least, most] = signed ? [-range / 2n, range / 2n - 1n] : [0n, range - 1n]
  return (value, path) => {
    const integer = readInteger(value)
    if (integer !== undefined && integer >= least && integer <= most)
      return toHex(BigInt.asUintN(256, integer), WORD)
    throw new TypedDataProblem(path, `an integer from ${least} to ${most} is expected`)
  }
}

/** Reads a JSON integer, decimal digits, or `0x` hex; undefined for any other value. */
export function readInteger(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (typeof value !== 'string' || value.length > MOST_DIGITS) return undefined
  return /^(0|-?[1-9][0-9]*|0x[0-9a-fA-F]+)$/.test(value) ? BigInt(value) : undefined
}

/**
 * Networks of the ZK Stack take transactions of type 113, whose signature is one of typed data: a struct
 * `Transaction` in the domain `zkSync`, version `2`, with the chain id. Such a document would move money
 * without any policy of the relayer.
 */
const NAME = 'zkSync'
const VERSION = '2'
const TRANSACTION = 'Transaction'

/**
 * The chain ids whose domains are recognised in their hashed form. A hash shows nothing, so the networks have
 * to be known.
 */
const KNOWN_CHAIN_IDS: readonly number[] = [
  260, 270, 272, 300, 324, 626, 627, 2741, 11_124, 50_104, 61_166, 978_658, 1_612_127, 531_050_104,
]

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
] as const

let known: ReadonlySet<string> | undefined

/**
 * Refuses typed data that is a transaction of a ZK Stack network.
 * @throws TypedDataProblem for a document of any chain id, and for hashes of a known one
 */
function refuseTransaction(data: TypedData): void {
  if (data.kind === 'document') {
    const { domain, primaryType } = data
    if (domain.name === NAME && domain.version === VERSION && primaryType === TRANSACTION)
      throw new TypedDataProblem(
        'body.primaryType',
        `data that is not a transaction is expected; ${TRANSACTION} in the domain ${NAME} is one on ZK Stack networks`,
      )
    return
  }
  known ??= new Set(KNOWN_CHAIN_IDS.map(separatorOf))
  if (known.has(data.domainSeparator.toLowerCase()))
    throw new TypedDataProblem(
      'body.domain_separator',
      `a domain other than ${NAME} is expected, as its data can be a transaction; give the whole document`,
    )
}

function separatorOf(chainId: number): string {
  const domain = { name: NAME, version: VERSION, chainId: BigInt(chainId) }
  return hashStruct({ data: domain, primaryType: 'EIP712Domain', types: { EIP712Domain: DOMAIN_TYPE } })
}

/**
 * Reads the chain to which a signature of typed data is bound: the `chainId` of its domain (EIP-712), as far
 * as the type of the domain has it as an integer, because nothing else of a domain is signed. Undefined for a
 * domain without one, whose signature is valid on every chain, and for hashes, which are unreadable. Refuses
 * a `chainId` that is not an integer. Pure.
 */
export function chainIdOf(data: TypedData): Exclude<Answer<bigint | undefined>, { kind: 'unknown' }> {
  if (data.kind === 'hashes' || !Object.hasOwn(data.domain, 'chainId')) return EVERY_CHAIN
  const { EIP712Domain: fields } = data.types
  const isBound = fields?.some(({ name, type }) => name === 'chainId' && /^u?int[0-9]*$/.test(type)) ?? true
  if (!isBound) return EVERY_CHAIN
  const value = readInteger(data.domain.chainId)
  if (value !== undefined) return { kind: 'ok', value }
  const detail = 'body.domain.chainId: an integer is expected.'
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

const EVERY_CHAIN = { kind: 'ok', value: undefined } as const

/** Structured data does not match its types. The message names the field and is written for the caller. */
export class TypedDataProblem extends Error {
  override readonly name = 'TypedDataProblem'

  readonly expected: string

  constructor(path: string, expected: string) {
    super(`${path}: ${expected}.`)
    this.expected = expected
  }
}

/** The steps of one turn. A step takes some 20 µs, so other callers wait for some 20 ms. */
const STEPS_PER_TURN = 1000

/** A computation in steps; it yields after each. */
type Steps<T> = Generator<undefined, T, undefined>

/**
 * Runs a long computation without blocking the event loop: it yields to other work. Structured data with as
 * many values as a body may have (20,000) takes about 0.15 s, which would delay every other request.
 */
async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    const step = steps.next()
    if (step.done) return step.value
    if (count % STEPS_PER_TURN === 0) await endOfTurn()
  }
}
