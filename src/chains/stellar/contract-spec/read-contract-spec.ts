import { createHash } from 'node:crypto'
import {
  ContractDataDurability,
  Hash,
  LedgerEntryData,
  LedgerKey,
  LedgerKeyContractCode,
  LedgerKeyContractData,
  ScVal,
} from '@stellar/stellar-sdk/xdr'
import type { Answer } from '../../answer.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { MAX_WASM_BYTES } from '../check/soroban.ts'
import { encodeScAddress } from '../encode/sc-value.ts'
import { fieldsOf } from '../read/replies.ts'
import { ASSET_CONTRACT } from './asset-contract.ts'
import { type ContractSpec, readContractSpec } from './contract-spec.ts'
import { customSection } from './wasm-section.ts'

/** The section of the code that has the specification (SEP-48). */
const SECTION = 'contractspecv0'

/** So many specifications are kept; each is at most as large as the code of a contract, and usually a few kilobytes. */
const MAX_KEPT = 32

/** The code that a contract runs: the built-in one of assets, or that with a hash in hexadecimal digits. */
type Code = 'asset' | { readonly hash: string }

/** Reads the specification of the contract at an address (`C…`). A refusal has no field. */
export type SpecReader = (contract: string) => Promise<Answer<ContractSpec>>

/**
 * Creates a reader of specifications. Which code a contract runs is asked each time, because it can change; specifications are kept by the
 * hash of the code, which also proves that an endpoint gave the right one.
 */
export function createSpecReader(client: PooledClient): SpecReader {
  const kept = new Map<string, ContractSpec>()
  return async (contract) => {
    const code = await readCode(client, contract)
    if (code.kind !== 'ok') return code
    if (code.value === 'asset') return { kind: 'ok', value: ASSET_CONTRACT }
    const { hash } = code.value
    const known = kept.get(hash)
    if (known !== undefined) return { kind: 'ok', value: known }
    const spec = await readSpec(client, hash)
    if (spec.kind === 'ok') keep(kept, hash, spec.value)
    return spec
  }
}

/** Forgets the oldest one when there are too many. */
function keep(kept: Map<string, ContractSpec>, hash: string, spec: ContractSpec): void {
  kept.set(hash, spec)
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
}

/** Asks every endpoint: a single one that lies could give the arguments another order with the specification of another contract. */
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
    return { kind: 'unknown', detail: `the endpoints name different code of contract ${contract}` }
  if (first !== 'none') return { kind: 'ok', value: first }
  return refused('contract_address: expected a contract that the network has')
}

/** Asks every endpoint, because the hash shows which one gave the right code. */
async function readSpec(client: PooledClient, hash: string): Promise<Answer<ContractSpec>> {
  const key = LedgerKey.contractCode(new LedgerKeyContractCode({ hash: new Hash(hash) }))
  const endpoints = await client.sendEverywhere([entriesCall(key)])
  const wasm = endpoints.flatMap(([reply]) => wasmIn(reply)).find((bytes) => sha256(bytes) === hash)
  if (wasm === undefined) return { kind: 'unknown', detail: `no endpoint gave the code with hash ${hash}` }
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
