import type { xdr } from '@stellar/stellar-sdk'
import { type ContractEntry, contractKey, type Entry, keyOf } from '../state/entries.ts'
import { stateKeyOf, toLedgerEntry } from '../state/entry-xdr.ts'
import type { Changes } from '../state/state.ts'
import { Trap } from './contracts.ts'
import { rentFee } from './fees.ts'
import { isPersistent } from './keys.ts'

/** New contract entries live for this many ledgers (pubnet: `min_temporary_ttl`, `min_persistent_ttl`). */
export const MIN_TEMPORARY_LEDGERS = 17_280
export const MIN_PERSISTENT_LEDGERS = 2_073_600

/** The entries that a contract call may touch. */
export interface Storage {
  readonly ledger: number
  read(key: xdr.LedgerKey): Entry | undefined
  write(entry: Entry, key: xdr.LedgerKey): void
  remove(key: xdr.LedgerKey): void
  /** Returns the entries that were touched so far. */
  usage(): Usage
}

/** The resources of the ledger that a call used. */
export interface Usage {
  readonly accesses: number
  /** The bytes of entries that are not kept in memory: those without contracts (CAP-66). */
  readonly diskReadBytes: number
  readonly writeBytes: number
  /** Stroops, for entries that are new. */
  readonly rent: bigint
  /** Base64 of the keys that were only read, and of those that were written. */
  readonly readOnly: readonly string[]
  readonly readWrite: readonly string[]
  /** The archived entries of both; only where that is not a failure. */
  readonly archived: readonly string[]
}

/** The rights of a footprint on keys; base64. */
export interface Access {
  mayRead(key: string): boolean
  mayWrite(key: string): boolean
  /** Returns true if an archived entry may be used as if it were restored. */
  mayRestore(key: string): boolean
}

/** While a call is recorded it may touch everything; the footprint is made of what it touches. */
export const EVERYTHING: Access = { mayRead: () => true, mayWrite: () => true, mayRestore: () => true }

/** Exactly what a transaction declared. */
export function accessOf({ resources, ext }: xdr.SorobanTransactionData): Access {
  const readOnly = resources.footprint.readOnly.map((key) => key.toXdr('base64'))
  const readWrite = resources.footprint.readWrite.map((key) => key.toXdr('base64'))
  const restored = ext.type === 'resourceExt' ? ext.resourceExt.archivedSorobanEntries : []
  return {
    mayRead: (key) => readOnly.includes(key) || readWrite.includes(key),
    mayWrite: (key) => readWrite.includes(key),
    mayRestore: (key) => restored.some((index) => readWrite[index] === key),
  }
}

/** Storage on top of `changes`, as of the ledger that is being made. */
export function createStorage(changes: Changes, ledger: number, access: Access): Storage {
  const reads = new Map<string, number>()
  const writes = new Map<string, number>()
  const archived = new Set<string>()
  let rent = 0n
  let accesses = 0
  const touch = (key: xdr.LedgerKey, isAllowed: (key: string) => boolean) => {
    accesses += 1
    return allowed(key.toXdr('base64'), isAllowed)
  }
  return {
    ledger,
    read(key) {
      const name = touch(key, access.mayRead)
      const entry = lookUp(changes, key, ledger)
      reads.set(name, entry && entry.kind !== 'contract' ? sizeOf(entry) : 0)
      if (!entry || !isExpired(entry, ledger)) return entry
      archived.add(restorable(name, access))
      return entry
    },
    write(entry, key) {
      const name = touch(key, access.mayWrite)
      const old = lookUp(changes, key, ledger)
      if (entry.kind === 'contract') rent += rentOf(entry, old, ledger)
      writes.set(name, sizeOf(entry))
      changes.set(entry)
    },
    remove(key) {
      writes.set(touch(key, access.mayWrite), 0)
      const stateKey = stateKeyOf(key)
      if (stateKey) changes.remove(stateKey)
    },
    usage: () => ({ accesses, rent, archived: [...archived], ...footprintOf(reads, writes) }),
  }
}

type Sizes = ReadonlyMap<string, number>

function footprintOf(reads: Sizes, writes: Sizes): Omit<Usage, 'accesses' | 'rent' | 'archived'> {
  return {
    diskReadBytes: sum(reads),
    writeBytes: sum(writes),
    readOnly: [...reads.keys()].filter((key) => !writes.has(key)),
    readWrite: [...writes.keys()],
  }
}

function allowed(key: string, isAllowed: (key: string) => boolean): string {
  if (isAllowed(key)) return key
  throw new Trap('HostError: Error(Storage, ExceededLimit): a key outside of the footprint')
}

function restorable(key: string, { mayRestore }: Access): string {
  if (mayRestore(key)) return key
  throw new Trap('HostError: Error(Storage, InternalError): archived', 'archived')
}

/** Makes a persistent entry live again; gives what that costs in rent (CAP-46-12). */
export function restore(changes: Changes, entry: ContractEntry, ledger: number): bigint {
  const liveUntil = ledger + MIN_PERSISTENT_LEDGERS - 1
  changes.set({ ...entry, liveUntil })
  return rentFee(sizeOf(entry), liveUntil - ledger + 1)
}

/** The entry of a base64 key when it is archived: persistent, and its time is over. */
export function archivedEntry(
  changes: Changes,
  key: xdr.LedgerKey,
  ledger: number,
): ContractEntry | undefined {
  const entry = changes.get(contractKey(key.toXdr('base64')))
  return entry?.kind === 'contract' && isExpired(entry, ledger) && isPersistent(key) ? entry : undefined
}

/** Returns the size of an entry on the ledger, in bytes. */
export function sizeOf(entry: Entry): number {
  return toLedgerEntry(entry).toXdr().length
}

/** A temporary entry that has expired does not exist any more. */
function lookUp(changes: Changes, key: xdr.LedgerKey, ledger: number): Entry | undefined {
  const stateKey = stateKeyOf(key)
  const entry = stateKey === undefined ? undefined : changes.get(stateKey)
  return entry && isExpired(entry, ledger) && !isPersistent(key) ? undefined : entry
}

function isExpired(entry: Entry, ledger: number): boolean {
  return entry.kind === 'contract' && entry.liveUntil < ledger
}

function rentOf(entry: ContractEntry, old: Entry | undefined, ledger: number): bigint {
  const paidUntil = old?.kind === 'contract' && keyOf(old) === keyOf(entry) ? old.liveUntil : ledger - 1
  return rentFee(sizeOf(entry), entry.liveUntil - Math.max(paidUntil, ledger - 1))
}

function sum(sizes: Sizes): number {
  return [...sizes.values()].reduce((total, size) => total + size, 0)
}
