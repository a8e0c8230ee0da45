import {
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit'

type Compiled<V> = CompiledTransactionMessage &
  CompiledTransactionMessageWithLifetime & { readonly version: V }

/** What is signed: accounts, instructions and a blockhash, of the two versions that every cluster takes. */
export type Message = Compiled<'legacy'> | Compiled<0>

/** One instruction, its accounts told by their places. */
export type CompiledInstruction = Message['instructions'][number]

const encoder = getCompiledTransactionMessageEncoder()
const decoder = getCompiledTransactionMessageDecoder()

/** The bytes that are signed. */
export function encodeMessage(message: Message): Uint8Array {
  return Uint8Array.from(encoder.encode(message))
}

/**
 * Reads a message. Undefined for what is none, for other versions, for one that says the same in more bytes than needed, and
 * for one that the network would not look at.
 */
export function decodeMessage(bytes: Uint8Array): Message | undefined {
  const message = decode(bytes)
  if (message === undefined || (message.version !== 'legacy' && message.version !== 0)) return undefined
  const own = message as Message
  return isSane(own) && Buffer.from(encodeMessage(own)).equals(bytes) ? own : undefined
}

function decode(bytes: Uint8Array) {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined // The library says it with an exception: too short, too long, or of an unknown version.
  }
}

/** Places of accounts are one byte. */
const MAX_ACCOUNTS = 256

/** What agave asks of a message before anything else (`sanitize` of `solana-message`, legacy and v0). */
function isSane(message: Message): boolean {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
  const total = accountCount(message)
  const count = message.staticAccounts.length
  if (numSignerAccounts + numReadonlyNonSignerAccounts > count) return false
  // The first pays, so it can be written to.
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

/** The address tables that a message takes further accounts from. */
export function lookupsOf(message: Message) {
  return message.version === 0 ? (message.addressTableLookups ?? []) : []
}

/** How many accounts a message names, those from tables included. */
export function accountCount(message: Message): number {
  return lookupsOf(message).reduce(
    (sum, lookup) => sum + lookup.writableIndexes.length + lookup.readonlyIndexes.length,
    message.staticAccounts.length,
  )
}

/** Whether others sign besides the one who pays. */
export function isMultiSigner({ header }: Message): boolean {
  return header.numSignerAccounts > 1
}

/** The address of the program that an instruction calls. */
export function programOf(message: Message, { programAddressIndex }: CompiledInstruction): string {
  return message.staticAccounts[programAddressIndex] ?? ''
}
