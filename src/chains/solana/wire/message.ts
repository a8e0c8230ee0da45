import {
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit'

type Compiled<V> = CompiledTransactionMessage &
  CompiledTransactionMessageWithLifetime & { readonly version: V }

/** The signed part of a transaction: accounts, instructions and a blockhash, in the two versions that every cluster accepts. */
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
 * Reads a message. Returns undefined for other bytes, for other versions, for an encoding that is longer than necessary, and for a message
 * that the network would not look at.
 */
export function decodeMessage(bytes: Uint8Array): Message | undefined {
  const message = decode(bytes)
  if (message === undefined || (message.version !== 'legacy' && message.version !== 0)) return undefined
  const own = message as Message
  return isSane(own) && Buffer.from(encodeMessage(own)).equals(bytes) ? own : undefined
}

/**
 * Returns true when the bytes can be read to their end as a message, of any version and of any sense: a network may look at messages that
 * `decodeMessage` rejects.
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

/** Returns true when others sign besides the fee payer. */
export function isMultiSigner({ header }: Message): boolean {
  return header.numSignerAccounts > 1
}

/** Returns the address of the program that an instruction calls. */
export function programOf(message: Message, { programAddressIndex }: CompiledInstruction): string {
  return message.staticAccounts[programAddressIndex] ?? ''
}
