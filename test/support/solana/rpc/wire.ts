import { getBase58Encoder } from '@solana/kit'
import { invalidParams } from '../../json-rpc/fault.ts'
import { tableProblem } from '../chain/table.ts'
import type { Commitment, Node } from '../node.ts'
import { WireFault } from '../runtime/bytes.ts'
import { PACKET_DATA_SIZE } from '../runtime/limits.ts'
import { sanitizeProblem } from '../runtime/sanitize.ts'
import { isSane, readTransaction, type WireTransaction } from '../runtime/transaction.ts'
import { describeError } from './describe-error.ts'

/** Most characters of an encoded transaction (agave rpc.rs `MAX_BASE58_SIZE`, `MAX_BASE64_SIZE`). */
const MAX_CHARACTERS = { base58: 1683, base64: 1644 }

/** Reads the requested encoding of bytes; base58 by default. */
export function encodingParam(value: unknown): 'base58' | 'base64' {
  if (value === undefined || value === null || value === 'base58') return 'base58'
  if (value === 'base64') return value
  throw invalidParams(`unsupported encoding: ${value}. Supported encodings: base58, base64`)
}

/** The bytes of a transaction or message; too many are refused (agave rpc.rs `decode_and_deserialize`). */
export function decodeBytes(text: string, encoding: 'base58' | 'base64', type: string): Uint8Array {
  const most = MAX_CHARACTERS[encoding]
  const limits = `(max: encoded/raw ${most}/${PACKET_DATA_SIZE})`
  if (text.length > most) {
    throw invalidParams(`${encoding} encoded ${type} too large: ${text.length} bytes ${limits}`)
  }
  const bytes = encoding === 'base64' ? fromBase64(text) : fromBase58(text)
  if (bytes.length > PACKET_DATA_SIZE) {
    throw invalidParams(`decoded ${type} too large: ${bytes.length} bytes ${limits}`)
  }
  return bytes
}

function fromBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw invalidParams('invalid base64 encoding: InvalidByte')
  return bytes
}

function fromBase58(text: string): Uint8Array {
  try {
    return Uint8Array.from(getBase58Encoder().encode(text))
  } catch {
    throw invalidParams('invalid base58 encoding: InvalidCharacter')
  }
}

/** Reads something of the wire format; what does not follow it is refused. */
export function deserialize<Thing>(type: string, read: () => Thing): Thing {
  try {
    return read()
  } catch (error) {
    if (error instanceof WireFault) throw invalidParams(`failed to deserialize ${type}: ${error.message}`)
    throw error
  }
}

const TRANSACTION = 'solana_transaction::versioned::VersionedTransaction'

/**
 * Refuses a transaction that a node does not look at, or whose tables do not hold what it takes from them, whatever else was asked for
 * (agave rpc.rs `sanitize_transaction`).
 */
export function refuseUnusable(node: Node, { message }: WireTransaction, commitment: Commitment): void {
  const unusable = sanitizeProblem(message)
  if (unusable !== undefined) throw invalidParams(`invalid transaction: ${describeError(unusable)}`)
  const { slot } = node.block(commitment)
  const problem = tableProblem(message, slot, (address) => node.account(address, commitment))
  if (problem !== undefined) throw invalidParams(`invalid transaction: ${describeError(problem)}`)
}

/** A transaction of a call: decoded, read, and its counts and places checked. */
export function transactionParam(text: string, encoding: 'base58' | 'base64'): WireTransaction {
  const bytes = decodeBytes(text, encoding, TRANSACTION)
  const transaction = deserialize(TRANSACTION, () => readTransaction(bytes))
  if (isSane(transaction)) return transaction
  throw invalidParams('invalid transaction: Transaction failed to sanitize accounts offsets correctly')
}
