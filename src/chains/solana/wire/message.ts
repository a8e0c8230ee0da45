import {
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit'

type Compiled<V> = CompiledTransactionMessage &
  CompiledTransactionMessageWithLifetime & { readonly version: V }

/**
 * The signed part of a transaction: accounts, instructions and a blockhash, in the two versions that every
 * cluster accepts.
 */
export type Message = Compiled<'legacy'> | Compiled<0>

/** One instruction, with its accounts by index. */
export type CompiledInstruction = Message['instructions'][number]

const encoder = getCompiledTransactionMessageEncoder()
const decoder = getCompiledTransactionMessageDecoder()

/** Returns the bytes that are signed. */
export function encodeMessage(message: Message): Uint8Array {
  return Uint8Array.from(encoder.encode(message))
}

/**
 * Reads a message. Returns undefined for other bytes, for other versions, for an encoding that is longer than
 * necessary, and for a message that the network would not process.
 */
export function decodeMessage(bytes: Uint8Array): Message | undefined {
  const message = decode(bytes)
  if (message === undefined || (message.version !== 'legacy' && message.version !== 0)) return undefined
  const own = message as Message
  return isSane(own) && Buffer.from(encodeMessage(own)).equals(bytes) ? own : undefined
}

/**
 * Returns true if the bytes can be read to their end as a message, of any version and of any sense: a network
 * may process messages that `decodeMessage` rejects.
 */
export function resemblesMessage(bytes: Uint8Array): boolean {
  try {
    return decoder.read(bytes, 0)[1] === bytes.length
  } catch {
    return false // The library throws, as in `decode`.
  }
}

function decode(bytes: Uint8Array) {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined // The library throws: too short, too long, or of an unknown version.
  }
}

/** The index of an account is one byte. */
const MAX_ACCOUNTS = 256

/** Applies agave's first checks of a message (`sanitize` of `solana-message`, legacy and v0). */
function isSane(message: Message): boolean {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
  const total = accountCount(message)
  const count = message.staticAccounts.length
  if (numSignerAccounts + numReadonlyNonSignerAccounts > count) return false
  // The first account pays, so it must be writable.
  if (numReadonlySignerAccounts >= numSignerAccounts) return false
  if (total > MAX_ACCOUNTS || new Set(message.staticAccounts).size < count) return false
  if (
    lookupsOf(message).some((lookup) => lookup.writableIndexes.length + lookup.readonlyIndexes.length === 0)
  )
    return false
  return message.instructions.every(
    ({ programAddressIndex, accountIndices = [] }) =>
      programAddressIndex > 0 &&
      programAddressIndex < count &&
      accountIndices.every((index) => index < total),
  )
}

/** Returns the address tables from which a message loads further accounts. */
export function lookupsOf(message: Message) {
  return message.version === 0 ? (message.addressTableLookups ?? []) : []
}

/** Returns the number of accounts of a message, those from tables included. */
export function accountCount(message: Message): number {
  return lookupsOf(message).reduce(
    (sum, lookup) => sum + lookup.writableIndexes.length + lookup.readonlyIndexes.length,
    message.staticAccounts.length,
  )
}

/** Returns true if others sign besides the fee payer. */
export function isMultiSigner({ header }: Message): boolean {
  return header.numSignerAccounts > 1
}

/** Returns the address of the program that an instruction calls. */
export function programOf(message: Message, { programAddressIndex }: CompiledInstruction): string {
  return message.staticAccounts[programAddressIndex] ?? ''
}

/**
 * The highest number of bytes of a transaction: IPv6's smallest packet without headers (agave
 * `PACKET_DATA_SIZE`).
 */
export const MAX_TRANSACTION_BYTES = 1232

/**
 * The first byte of a transaction of version 1, which may have 4096 bytes (SIMD-0385). No other transaction
 * begins with it, because it would be a number of signatures that does not fit into a packet.
 */
const VERSION_1 = 0x81

/** Returns true for bytes that begin like a transaction of version 1. */
export function isVersion1([first]: Uint8Array): boolean {
  return first === VERSION_1
}

/** The length of an ed25519 signature, in bytes. */
const SIGNATURE_BYTES = 64

/**
 * More signatures do not fit into a packet, so their number is always written in one byte (`ShortU16` writes
 * numbers below 128 like this), and a first byte of 128 or more is invalid.
 */
const MAX_SIGNATURES = Math.floor(MAX_TRANSACTION_BYTES / SIGNATURE_BYTES)

/** The parts of a transaction. */
export interface WireTransaction {
  /** Signatures in the order of the signers; all zero where one is missing. */
  readonly signatures: readonly Uint8Array[]
  readonly message: Message
  /** The bytes that are signed. */
  readonly messageBytes: Uint8Array
}

/** Reads a transaction in wire format; undefined for other bytes. */
export function readTransaction(raw: Uint8Array): WireTransaction | undefined {
  const count = raw[0] ?? 0
  const start = 1 + count * SIGNATURE_BYTES
  if (count < 1 || count > MAX_SIGNATURES || start >= raw.length) return undefined
  const messageBytes = raw.slice(start)
  const message = decodeMessage(messageBytes)
  if (message === undefined || message.header.numSignerAccounts !== count) return undefined
  const signatures = Array.from({ length: count }, (_, index) =>
    raw.slice(1 + index * SIGNATURE_BYTES, 1 + (index + 1) * SIGNATURE_BYTES),
  )
  return { signatures, message, messageBytes }
}

/**
 * Reads a transaction in base64 that was checked before, or created by the service.
 * @throws Error for anything else
 */
export function openTransaction(base64: string): WireTransaction {
  const transaction = readTransaction(Buffer.from(base64, 'base64'))
  if (transaction === undefined) throw new Error('these bytes are not a transaction')
  return transaction
}

/** Writes a message with its signatures in wire format. */
export function writeTransaction(signatures: readonly Uint8Array[], messageBytes: Uint8Array): Uint8Array {
  return Uint8Array.from(Buffer.concat([Uint8Array.of(signatures.length), ...signatures, messageBytes]))
}

/** Writes a message without signatures in wire format, base64. */
export function writeUnsigned(message: Message): string {
  const signatures = Array.from(
    { length: message.header.numSignerAccounts },
    () => new Uint8Array(SIGNATURE_BYTES),
  )
  return Buffer.from(writeTransaction(signatures, encodeMessage(message))).toString('base64')
}

/** Returns the size of the message as a transaction, in bytes. */
export function transactionSize(message: Message): number {
  return 1 + message.header.numSignerAccounts * SIGNATURE_BYTES + encodeMessage(message).length
}
