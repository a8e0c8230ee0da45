import { decodeMessage, encodeMessage, type Message } from './message.ts'

/** The most bytes of a transaction: IPv6's smallest packet without headers (agave `PACKET_DATA_SIZE`). */
export const MAX_TRANSACTION_BYTES = 1232

/** Bytes of an ed25519 signature. */
const SIGNATURE_BYTES = 64

/**
 * More do not fit into a packet, so their number is always written in one byte (`ShortU16` writes numbers below 128 so), and
 * a first byte of 128 or more is no number of signatures.
 */
const MAX_SIGNATURES = Math.floor(MAX_TRANSACTION_BYTES / SIGNATURE_BYTES)

/** A transaction taken apart. */
export interface WireTransaction {
  /** In the order of the signers; all zero where one is missing. */
  readonly signatures: readonly Uint8Array[]
  readonly message: Message
  /** What is signed. */
  readonly messageBytes: Uint8Array
}

/** Reads a transaction in wire format; undefined for what is none. */
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
 * Reads a transaction that was checked or made by us, base64.
 * @throws Error for anything else
 */
export function openTransaction(base64: string): WireTransaction {
  const transaction = readTransaction(Buffer.from(base64, 'base64'))
  if (transaction === undefined) throw new Error('these bytes are no transaction')
  return transaction
}

/** The wire format of a message with its signatures. */
export function writeTransaction(signatures: readonly Uint8Array[], messageBytes: Uint8Array): Uint8Array {
  return Uint8Array.from(Buffer.concat([Uint8Array.of(signatures.length), ...signatures, messageBytes]))
}

/** The wire format of a message that nobody has signed, base64. */
export function writeUnsigned(message: Message): string {
  const signatures = Array.from(
    { length: message.header.numSignerAccounts },
    () => new Uint8Array(SIGNATURE_BYTES),
  )
  return Buffer.from(writeTransaction(signatures, encodeMessage(message))).toString('base64')
}

/** How many bytes the message has as a transaction. */
export function transactionSize(message: Message): number {
  return 1 + message.header.numSignerAccounts * SIGNATURE_BYTES + encodeMessage(message).length
}
