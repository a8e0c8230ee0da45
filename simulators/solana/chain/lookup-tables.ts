import { type Address, getAddressDecoder } from '@solana/kit'
import type { AccountState } from '../runtime/account.ts'
import { MAX_SLOT_HASHES } from '../runtime/limits.ts'
import { LOOKUP_TABLE_PROGRAM } from '../runtime/programs.ts'
import { isWritable, type Message } from '../runtime/transaction.ts'

/** Layout of an address lookup table (address-lookup-table-interface `LookupTableMeta`): its head, then addresses. */
const HEAD_LENGTH = 56
const DEACTIVATION_SLOT_OFFSET = 4
const EXTENDED_SLOT_OFFSET = 12
const EXTENDED_START_OFFSET = 20
/** The deactivation slot of a table that is in use. */
const NEVER = 2n ** 64n - 1n

/** The addresses that a table holds, whether or not they may be used yet. */
function tableAddresses(table: AccountState | undefined): Address[] {
  const data = table?.data ?? new Uint8Array()
  const count = Math.max(0, Math.floor((data.length - HEAD_LENGTH) / 32))
  const addressAt = (index: number) =>
    getAddressDecoder().decode(data.subarray(HEAD_LENGTH + 32 * index, HEAD_LENGTH + 32 * (index + 1)))
  return Array.from({ length: count }, (_, index) => addressAt(index))
}

/**
 * Returns the reason why the addresses from tables are not available in this slot, as the name of a transaction error; undefined if they
 * are (agave runtime/src/bank/address_lookup_table.rs).
 */
export function tableProblem(
  { lookups }: Message,
  slot: bigint,
  account: (address: Address) => AccountState | undefined,
): string | undefined {
  for (const { table, writable, readonly } of lookups) {
    const state = account(table)
    if (state === undefined) return 'AddressLookupTableNotFound'
    if (state.owner !== LOOKUP_TABLE_PROGRAM) return 'InvalidAddressLookupTableOwner'
    if (state.data.length < HEAD_LENGTH) return 'InvalidAddressLookupTableData'
    if (isDeactivated(state, slot)) return 'AddressLookupTableNotFound'
    const usable = usableCount(state, slot)
    if ([...writable, ...readonly].some((index) => index >= usable)) return 'InvalidAddressLookupTableIndex'
  }
  return undefined
}

/** A deactivated table can be used for as long as its last slot is remembered. */
function isDeactivated({ data }: AccountState, slot: bigint): boolean {
  const deactivated = Buffer.from(data).readBigUInt64LE(DEACTIVATION_SLOT_OFFSET)
  return deactivated !== NEVER && slot > deactivated + BigInt(MAX_SLOT_HASHES)
}

/** Addresses can be used from the slot after that in which they were added. */
function usableCount(table: AccountState, slot: bigint): number {
  const head = Buffer.from(table.data)
  if (slot > head.readBigUInt64LE(EXTENDED_SLOT_OFFSET)) return tableAddresses(table).length
  return head.readUInt8(EXTENDED_START_OFFSET)
}

/** Addresses that were taken from tables. */
export interface LoadedAddresses {
  readonly writable: readonly Address[]
  readonly readonly: readonly Address[]
}

/** The addresses that the message takes from tables; none from a table that lacks them, which the runtime refuses. */
export function loadAddresses(
  message: Message,
  account: (address: Address) => AccountState | undefined,
): LoadedAddresses {
  const pick = (kind: 'writable' | 'readonly') =>
    message.lookups.flatMap((lookup) => {
      const addresses = tableAddresses(account(lookup.table))
      return lookup[kind].flatMap((index) => addresses[index] ?? [])
    })
  return { writable: pick('writable'), readonly: pick('readonly') }
}

/** All accounts that the transaction may write. */
export function writableKeys(message: Message, loaded: LoadedAddresses): Address[] {
  return [...message.keys.filter((_, index) => isWritable(message, index)), ...loaded.writable]
}
