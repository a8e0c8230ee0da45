import { getAddressDecoder } from '@solana/kit'
import type { Rpc } from './host.ts'
import type { Lookup } from './solana-transaction.ts'

const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111'
const LOOKUP_TABLE_HEADER_BYTES = 56
const TOKEN_ACCOUNT_BYTES = 165

/** The state of an account of tokens. */
export interface TokenAccount {
  readonly mint: string
  readonly owner: string
  readonly amount: bigint
}

/** An account as a node reports it; its data is in base64. */
export interface AccountInfo {
  readonly owner: string
  readonly lamports: number | string
  readonly data: readonly [string, string]
}

/** Reads an integer of a node, which JSON has as a number or a text; undefined for anything else. */
export function integerIn(value: unknown): bigint | undefined {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined
}

/**
 * Reads the accounts that a message loads: the writable accounts of all tables come first, then the readonly
 * ones.
 */
export async function loadedAccounts(
  { lookups }: { readonly lookups: readonly Lookup[] },
  rpc: Rpc,
): Promise<(string | undefined)[]> {
  if (lookups.length === 0) return []
  const tables = await readAccounts(
    lookups.map(({ table }) => table),
    rpc,
  )
  const contents = tables.accounts.map(addressesIn)
  const pick = (kind: 'writable' | 'readonly') =>
    lookups.flatMap((lookup, index) => lookup[kind].map((entry) => contents[index]?.[entry]))
  return [...pick('writable'), ...pick('readonly')]
}

/** What a node answers as of a slot. */
export interface InSlot<Value> {
  readonly context: { readonly slot: number }
  readonly value: Value
}

/** Reads accounts as of the newest confirmed slot; null where none exists. */
export async function readAccounts(addresses: readonly string[], rpc: Rpc) {
  const { context, value } = await rpc<InSlot<readonly (AccountInfo | null)[]>>('getMultipleAccounts', [
    addresses,
    { encoding: 'base64', commitment: 'confirmed' },
  ])
  return { slot: context.slot, accounts: value }
}

function bytesOf({ data }: AccountInfo): Buffer {
  return Buffer.from(data[0], 'base64')
}

function addressAt(bytes: Buffer, offset: number): string {
  return String(getAddressDecoder().decode(bytes, offset))
}

/** Reads an account of tokens; undefined if it is none. */
export function tokenAccountIn(account: AccountInfo | null): TokenAccount | undefined {
  if (account === null) return undefined
  const bytes = bytesOf(account)
  if (bytes.length < TOKEN_ACCOUNT_BYTES) return undefined
  return { mint: addressAt(bytes, 0), owner: addressAt(bytes, 32), amount: bytes.readBigUInt64LE(64) }
}

function addressesIn(account: AccountInfo | null): readonly string[] {
  if (account?.owner !== LOOKUP_TABLE_PROGRAM) return []
  const bytes = bytesOf(account)
  const count = Math.max(0, Math.floor((bytes.length - LOOKUP_TABLE_HEADER_BYTES) / 32))
  return Array.from({ length: count }, (_, index) => addressAt(bytes, LOOKUP_TABLE_HEADER_BYTES + index * 32))
}
