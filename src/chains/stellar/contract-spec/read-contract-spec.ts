import { createHash } from 'node:crypto'
import {
  ContractDataDurability,
  decodeStream,
  Hash,
  LedgerEntryData,
  LedgerKey,
  LedgerKeyContractCode,
  LedgerKeyContractData,
  ScSpecEntry,
  ScSpecTypeDef,
  ScVal,
} from '@stellar/stellar-sdk/xdr'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Answer } from '../../answer.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { MAX_WASM_BYTES } from '../check/soroban.ts'
import { encodeScAddress } from '../encode.ts'
import { fieldsOf } from '../read/replies.ts'

/** The section of the code that has the specification (SEP-48). */
const SECTION = 'contractspecv0'

/**
 * This many specifications are kept; each is at most as large as the code of a contract, and usually a few
 * kilobytes.
 */
const MAX_KEPT = 32

/** The code that a contract runs: the built-in one of assets, or that with a hash in hexadecimal digits. */
type Code = 'asset' | { readonly hash: string }

/** Reads the specification of the contract at an address (`C…`). A refusal has no field. */
export type SpecReader = (contract: string) => Promise<Answer<ContractSpec>>

/**
 * Creates a reader of specifications. The code of a contract is looked up each time, because it can change;
 * specifications are cached by the hash of the code, which also proves that an endpoint returned the right
 * one.
 */
export function createSpecReader(client: PooledClient): SpecReader {
  const kept = new BoundedMap<string, ContractSpec>(MAX_KEPT)
  return async (contract) => {
    const code = await readCode(client, contract)
    if (code.kind !== 'ok') return code
    if (code.value === 'asset') return { kind: 'ok', value: ASSET_CONTRACT }
    const { hash } = code.value
    const known = kept.get(hash)
    if (known !== undefined) return { kind: 'ok', value: known }
    const spec = await readSpec(client, hash)
    if (spec.kind === 'ok') kept.set(hash, spec.value)
    return spec
  }
}

/**
 * Queries every endpoint: a single lying one could reorder the arguments with the specification of another
 * contract.
 */
async function readCode(client: PooledClient, contract: string): Promise<Answer<Code>> {
  const endpoints = await client.sendEverywhere([entriesCall(instanceKey(contract))])
  const answers = endpoints.flatMap(([reply]) =>
    reply === undefined || reply.behind ? [] : [entryIn(reply)],
  )
  const known = answers.flatMap((answer) => (answer.kind === 'ok' ? [codeIn(answer.value)] : []))
  const [first] = known
  const failed = answers.find((answer) => answer.kind !== 'ok')
  if (first === undefined) return failed ?? NO_ANSWER
  if (known.some((code) => nameOf(code) !== nameOf(first)))
    return { kind: 'unknown', detail: `the endpoints return different code for contract ${contract}` }
  if (first !== 'none') return { kind: 'ok', value: first }
  return refused('contract_address: expected a contract that exists on the network')
}

/** Queries every endpoint, because the hash shows which one returned the right code. */
async function readSpec(client: PooledClient, hash: string): Promise<Answer<ContractSpec>> {
  const key = LedgerKey.contractCode(new LedgerKeyContractCode({ hash: new Hash(hash) }))
  const endpoints = await client.sendEverywhere([entriesCall(key)])
  const wasm = endpoints.flatMap(([reply]) => wasmIn(reply)).find((bytes) => sha256(bytes) === hash)
  if (wasm === undefined)
    return { kind: 'unknown', detail: `no endpoint returned the code with hash ${hash}` }
  const section = wasm.length > MAX_WASM_BYTES ? undefined : customSection(wasm, SECTION)
  const spec = section && readContractSpec(section)
  return spec === undefined
    ? refused('named_args: the code of the contract has no readable specification; send args')
    : { kind: 'ok', value: spec }
}

const NO_ANSWER = { kind: 'unknown', detail: 'no endpoint answers' } as const

function refused(detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code: 'invalid_request', detail: `${detail}.` } }
}

function nameOf(code: Code | 'none'): string {
  return typeof code === 'string' ? code : code.hash
}

function codeIn(entry: LedgerEntryData | undefined): Code | 'none' {
  const val = entry?.type === 'contractData' ? entry.contractData.val : undefined
  if (val?.type !== 'scvContractInstance') return 'none'
  const { executable } = val.instance
  if (executable.type !== 'contractExecutableWasm') return 'asset'
  return { hash: Buffer.from(executable.wasmHash.toBytes()).toString('hex') }
}

function wasmIn(endpointReply: EndpointReply | undefined): Uint8Array[] {
  const entry = endpointReply && entryIn(endpointReply)
  const data = entry?.kind === 'ok' ? entry.value : undefined
  return data?.type === 'contractCode' ? [data.contractCode.code] : []
}

/** Returns the only entry of a reply, or undefined for an empty list, which Go writes as null. */
function entryIn({ reply }: EndpointReply): Answer<LedgerEntryData | undefined> {
  const fields = fieldsOf(reply)
  if (fields.kind !== 'ok') return fields
  const { entries = null } = fields.value
  if (entries === null || (Array.isArray(entries) && entries.length === 0))
    return { kind: 'ok', value: undefined }
  const [entry] = Array.isArray(entries) ? (entries as unknown[]) : []
  const { xdr } = (entry ?? {}) as { xdr?: unknown }
  try {
    if (typeof xdr === 'string') return { kind: 'ok', value: LedgerEntryData.fromXdr(xdr, 'base64') }
  } catch {
    // The SDK throws: not XDR, or not of this kind.
  }
  return { kind: 'unknown', detail: 'the endpoint did not answer with ledger entries' }
}

function entriesCall(key: LedgerKey): RpcCall {
  return { method: 'getLedgerEntries', params: { keys: [key.toXdr('base64')] } }
}

function instanceKey(contract: string): LedgerKey {
  return LedgerKey.contractData(
    new LedgerKeyContractData({
      contract: encodeScAddress(contract),
      key: ScVal.scvLedgerKeyContractInstance(),
      durability: ContractDataDurability.persistent,
    }),
  )
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A parameter of a function. */
interface Parameter {
  readonly name: string
  readonly type: ScSpecTypeDef
}

/** A type that a contract defines: a structure, a union or an enum. */
type UserType = Extract<
  ScSpecEntry,
  { readonly type: 'scSpecEntryUdtStructV0' | 'scSpecEntryUdtUnionV0' | 'scSpecEntryUdtEnumV0' }
>

/** The functions and types of a contract by their names (CAP-46, SEP-48). */
export interface ContractSpec {
  readonly functions: ReadonlyMap<string, readonly Parameter[]>
  readonly types: ReadonlyMap<string, UserType>
}

/**
 * Reads a specification as the code of a contract holds it; undefined for other bytes. Events and errors are
 * omitted.
 */
export function readContractSpec(bytes: Uint8Array): ContractSpec | undefined {
  const functions = new Map<string, readonly Parameter[]>()
  const types = new Map<string, UserType>()
  try {
    for (const entry of decodeStream(ScSpecEntry, bytes)) {
      if (entry.type === 'scSpecEntryFunctionV0')
        functions.set(
          entry.functionV0.name.toString(),
          entry.functionV0.inputs.map(({ name, type }) => ({ name: name.toString(), type })),
        )
      if (isUserType(entry)) types.set(entry.value.name.toString(), entry)
    }
  } catch {
    return undefined // The SDK throws: not XDR, of another kind, or nested too deep.
  }
  return { functions, types }
}

function isUserType(entry: ScSpecEntry): entry is UserType {
  return (
    entry.type === 'scSpecEntryUdtStructV0' ||
    entry.type === 'scSpecEntryUdtUnionV0' ||
    entry.type === 'scSpecEntryUdtEnumV0'
  )
}

/** The id of a custom section of a WebAssembly module (core specification, binary format of modules). */
const CUSTOM = 0

/** The magic number and the version, in bytes. */
const HEADER_BYTES = 8

/** A number with more bytes does not fit 32 bits (LEB128). */
const MAX_NUMBER_BYTES = 5

/**
 * Returns the content of the custom sections of this name, joined; undefined if there is none, or the bytes
 * are no module.
 */
export function customSection(wasm: Uint8Array, name: string): Uint8Array | undefined {
  const found: Uint8Array[] = []
  let at = HEADER_BYTES
  while (at < wasm.length) {
    const size = readNumber(wasm, at + 1)
    const end = size === undefined ? Number.NaN : size.end + size.value
    if (size === undefined || !(end <= wasm.length)) return undefined
    if (wasm[at] === CUSTOM) found.push(...contentOf(wasm.subarray(size.end, end), name))
    at = end
  }
  return found.length === 0 ? undefined : Buffer.concat(found)
}

/** A custom section begins with its name. */
function contentOf(section: Uint8Array, name: string): Uint8Array[] {
  const length = readNumber(section, 0)
  if (length === undefined) return []
  const end = length.end + length.value
  const isNamed = Buffer.from(section.subarray(length.end, end)).equals(Buffer.from(name))
  return isNamed ? [section.subarray(end)] : []
}

function readNumber(bytes: Uint8Array, at: number): { value: number; end: number } | undefined {
  let value = 0
  for (let index = 0; index < MAX_NUMBER_BYTES; index += 1) {
    const byte = bytes[at + index]
    if (byte === undefined) return undefined
    value += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return { value, end: at + index + 1 }
  }
  return undefined
}

const ADDRESS = ScSpecTypeDef.scSpecTypeAddress()
const I128 = ScSpecTypeDef.scSpecTypeI128()
const U32 = ScSpecTypeDef.scSpecTypeU32()
const BOOL = ScSpecTypeDef.scSpecTypeBool()

/**
 * The functions of the Stellar Asset Contract, which is part of every network and so has no code to read
 * (CAP-46-06).
 */
const FUNCTIONS: Readonly<Record<string, Readonly<Record<string, ScSpecTypeDef>>>> = {
  allowance: { from: ADDRESS, spender: ADDRESS },
  approve: { from: ADDRESS, spender: ADDRESS, amount: I128, expiration_ledger: U32 },
  balance: { id: ADDRESS },
  authorized: { id: ADDRESS },
  transfer: { from: ADDRESS, to: ADDRESS, amount: I128 },
  transfer_from: { spender: ADDRESS, from: ADDRESS, to: ADDRESS, amount: I128 },
  burn: { from: ADDRESS, amount: I128 },
  burn_from: { spender: ADDRESS, from: ADDRESS, amount: I128 },
  clawback: { from: ADDRESS, amount: I128 },
  mint: { to: ADDRESS, amount: I128 },
  set_admin: { new_admin: ADDRESS },
  set_authorized: { id: ADDRESS, authorize: BOOL },
  admin: {},
  decimals: {},
  name: {},
  symbol: {},
}

/** The specification of the Stellar Asset Contract. */
export const ASSET_CONTRACT: ContractSpec = {
  functions: new Map(
    Object.entries(FUNCTIONS).map(([name, inputs]) => [
      name,
      Object.entries(inputs).map(([input, type]) => ({ name: input, type })),
    ]),
  ),
  types: new Map(),
}
