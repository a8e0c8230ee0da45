import { createHash } from 'node:crypto'
import type { Address } from '@solana/kit'
import { base58, createReader, type Reader, times, WireFault } from './bytes.ts'

/** The numbers of signers and writable accounts: signers come first, and in each half the writable ones. */
export interface Header {
  readonly requiredSignatures: number
  readonly readonlySigned: number
  readonly readonlyUnsigned: number
}

/** A call of a program; accounts and program are places in the list of all accounts. */
export interface Instruction {
  readonly programIndex: number
  readonly accounts: readonly number[]
  readonly data: Uint8Array
}

/** Accounts that are named by their places in a table on the chain. */
export interface Lookup {
  readonly table: Address
  readonly writable: readonly number[]
  readonly readonly: readonly number[]
}

/** The signed part. */
export interface Message {
  readonly bytes: Uint8Array
  /** The hash identifies the message, anyone who signs it. */
  readonly hash: string
  readonly version: 'legacy' | 0
  readonly header: Header
  /** The accounts that stand in the message itself; the first one pays. */
  readonly keys: readonly Address[]
  /** A recent blockhash, or the value of a durable nonce; base58. */
  readonly blockhash: string
  /** The offset of the blockhash in `bytes`. */
  readonly blockhashOffset: number
  readonly instructions: readonly Instruction[]
  readonly lookups: readonly Lookup[]
}

/** A transaction as it came over the wire. */
export interface WireTransaction {
  readonly bytes: Uint8Array
  /** By the first `requiredSignatures` of the keys, in their order. 64 zeros where one is missing. */
  readonly signatures: readonly Uint8Array[]
  /** The first signature in base58: its name everywhere. */
  readonly signature: string
  readonly message: Message
}

const VERSION_FLAG = 0x80

/** Reads the wire format (solana-transaction `VersionedTransaction`, bincode with short_vec). Throws a {@link WireFault}. */
export function readTransaction(bytes: Uint8Array): WireTransaction {
  const reader = createReader(bytes)
  const signatures = times(reader.length(), () => reader.bytes(64))
  const message = readMessage(bytes.subarray(reader.offset))
  return { bytes, signatures, signature: base58(signatures[0] ?? new Uint8Array(64)), message }
}

/** Reads a message, legacy or version 0. Throws a {@link WireFault}. */
export function readMessage(source: Uint8Array): Message {
  const reader = createReader(source)
  const version = readVersion(reader)
  const header = {
    requiredSignatures: reader.byte(),
    readonlySigned: reader.byte(),
    readonlyUnsigned: reader.byte(),
  }
  const keys = times(reader.length(), () => reader.address())
  const blockhashOffset = reader.offset
  const blockhash = base58(reader.bytes(32))
  const instructions = times(reader.length(), () => readInstruction(reader))
  const lookups = version === 0 ? times(reader.length(), () => readLookup(reader)) : []
  const bytes = source.subarray(0, reader.offset)
  const hash = createHash('sha256').update(bytes).digest('hex')
  return { bytes, hash, version, header, keys, blockhash, blockhashOffset, instructions, lookups }
}

function readVersion(reader: Reader): 'legacy' | 0 {
  if (reader.peek() < VERSION_FLAG) return 'legacy'
  const version = reader.byte() - VERSION_FLAG
  if (version !== 0) throw new WireFault(`invalid value: integer \`${version}\`, expected a known version`)
  return version
}

function readInstruction(reader: Reader): Instruction {
  const programIndex = reader.byte()
  const accounts = [...reader.bytes(reader.length())]
  return { programIndex, accounts, data: reader.bytes(reader.length()) }
}

function readLookup(reader: Reader): Lookup {
  const table = reader.address()
  const writable = [...reader.bytes(reader.length())]
  return { table, writable, readonly: [...reader.bytes(reader.length())] }
}

/** Returns true if the account at this index of the message's own keys may be written (solana-message `is_writable`). */
export function isWritable({ header, keys }: Message, index: number): boolean {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header
  if (index < requiredSignatures) return index < requiredSignatures - readonlySigned
  return index < keys.length - readonlyUnsigned
}

/** The counts and places fit each other (solana-message `sanitize`). */
export function isSane({ signatures, message }: WireTransaction): boolean {
  const { header, keys, instructions, lookups } = message
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header
  const loaded = lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0)
  return (
    signatures.length === requiredSignatures &&
    requiredSignatures + readonlyUnsigned <= keys.length &&
    readonlySigned < requiredSignatures &&
    keys.length + loaded <= 256 &&
    instructions.every(
      ({ programIndex, accounts }) =>
        programIndex > 0 &&
        programIndex < keys.length &&
        accounts.every((index) => index < keys.length + loaded),
    )
  )
}
