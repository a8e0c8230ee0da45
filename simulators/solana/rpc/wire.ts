import { getBase58Encoder } from '@solana/kit'
import { invalidParams } from '../../json-rpc.ts'
import { tableProblem } from '../chain/lookup-tables.ts'
import type { Commitment, Node } from '../node.ts'
import { WireFault } from '../runtime/bytes.ts'
import type { TransactionError } from '../runtime/errors.ts'
import { PACKET_DATA_SIZE } from '../runtime/limits.ts'
import { sanitizeProblem } from '../runtime/sanitize.ts'
import { isSane, readTransaction, type WireTransaction } from '../runtime/transaction.ts'

/** Sentences of the errors that clients meet most (solana-transaction-error and solana-instruction-error `Display`). */
const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  AccountLoadedTwice: 'Account loaded twice',
  TooManyAccountLocks: 'Transaction locked too many accounts',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  SignatureFailure: 'Transaction did not pass signature verification',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  InvalidAddressLookupTableOwner: 'Transaction loads an address table account with an invalid owner',
  InvalidAddressLookupTableData: 'Transaction loads an address table account with invalid data',
  InvalidAddressLookupTableIndex: 'Transaction address table lookup uses an invalid index',
}

const INSTRUCTION_SENTENCES: Readonly<Record<string, string>> = {
  InvalidArgument: 'invalid program argument',
  InvalidInstructionData: 'invalid instruction data',
  InvalidAccountData: 'invalid account data for instruction',
  InsufficientFunds: 'insufficient funds for instruction',
  MissingRequiredSignature: 'missing required signature for instruction',
  ComputationalBudgetExceeded: 'Computational budget exceeded',
  ProgramFailedToComplete: 'Program failed to complete',
}

/** Describes a transaction error for people, like the validator. An unknown name stays as it is. */
export function describeError(error: TransactionError): string {
  if (typeof error === 'string') return SENTENCES[error] ?? error
  const [name = '', detail] = Object.entries(error)[0] ?? []
  if (name === 'InsufficientFundsForRent') {
    const index = (detail as { account_index: number }).account_index
    return `Transaction results in an account (${index}) with insufficient funds for rent`
  }
  if (name === 'DuplicateInstruction')
    return `Transaction contains a duplicate instruction (${detail}) that is not allowed`
  if (name !== 'InstructionError') return `${name} ${JSON.stringify(detail)}`
  const [index, cause] = detail as [number, TransactionError]
  return `Error processing Instruction ${index}: ${describeInstructionError(cause)}`
}

function describeInstructionError(cause: TransactionError): string {
  if (typeof cause === 'string') return INSTRUCTION_SENTENCES[cause] ?? cause
  return `custom program error: 0x${Number(cause.Custom).toString(16)}`
}

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
