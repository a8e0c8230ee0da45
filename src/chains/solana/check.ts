import type { Refusal } from '../answer.ts'
import { isPaidByUsers, PAYMENT_REQUIRED } from '../sponsoring.ts'
import type { SolanaInstruction, SolanaRequest } from './content.ts'
import {
  ACCOUNT_LOCKS,
  checkFeePayer,
  checkLimits,
  checkPolicies,
  MAX_INSTRUCTIONS,
  type Problem,
  readBase64,
} from './policies.ts'
import { composeMessage, contentOf } from './request-content.ts'
import { isBy } from './sign.ts'
import type { SolanaAccount } from './types.ts'
import { accountsOf, addressBytes, isAddress } from './wire/addresses.ts'
import {
  decodeMessage,
  encodeMessage,
  isMultiSigner,
  isVersion1,
  MAX_TRANSACTION_BYTES,
  readTransaction,
  transactionSize,
  type WireTransaction,
} from './wire/message.ts'

/**
 * Applies the rules that need no network, and reports the first problem. Accounts from address tables are
 * checked when the tables are read.
 */
export function checkRequest(request: SolanaRequest, account: SolanaAccount): Refusal | undefined {
  const problem = checkContent(request, account.address)
  return problem === undefined ? checkRules(request, account) : { code: 'invalid_request', detail: problem }
}

/** Applies the same rules to a transaction that the service only signs: others may sign it afterwards. */
export function checkUnsigned(request: SolanaRequest, account: SolanaAccount): Refusal | undefined {
  const problem = checkTransaction(request.transaction ?? '', account.address, { partial: true })
  return problem === undefined ? checkRules(request, account) : { code: 'invalid_request', detail: problem }
}

function checkRules(request: SolanaRequest, account: SolanaAccount): Refusal | undefined {
  const { message, at } = contentOf(request, account.address)
  const subject = { message, at, accounts: accountsOf(message), self: account.address }
  if (isMultiSigner(message) && isPaidByUsers(account.policies) && request.payment === undefined)
    return { code: 'payment_required', detail: `${at}: ${PAYMENT_REQUIRED}` }
  return checkPolicies(subject, account.policies) ?? checkFeePayer(subject, account.policies)
}

function checkContent({ transaction, instructions }: SolanaRequest, self: string): Problem {
  if (transaction !== undefined && instructions !== undefined)
    return 'transaction, instructions: exactly one of the two is expected, not both.'
  if (transaction !== undefined) return checkTransaction(transaction, self)
  if (instructions !== undefined) return checkInstructions(instructions, self)
  return 'transaction, instructions: one of the two is expected.'
}

/** Reads a prebuilt transaction; a sentence for anything else. */
export function readWire(base64: string): WireTransaction | string {
  const raw = readBase64(base64)
  if (raw === undefined) return 'transaction: base64 with padding is expected.'
  if (isVersion1(raw))
    return 'transaction: a legacy transaction or one of version 0 is expected; version 1 (SIMD-0385, up to 4096 bytes) is not supported.'
  if (raw.length > MAX_TRANSACTION_BYTES) {
    return `transaction: at most ${MAX_TRANSACTION_BYTES} bytes are expected, ${raw.length} were given.`
  }
  return readTransaction(raw) ?? 'transaction: a transaction in wire format is expected, legacy or version 0.'
}

/** Checks a prebuilt transaction. With `partial`, others may sign it after the relayer. */
function checkTransaction(base64: string, self: string, { partial = false } = {}): Problem {
  const transaction = readWire(base64)
  if (typeof transaction === 'string') return transaction
  const [payer] = transaction.message.staticAccounts
  if (payer !== self) return `transaction: the relayer ${self} is expected as the fee payer, not ${payer}.`
  const problem = checkLimits(transaction.message)
  return problem === undefined ? checkSignatures(transaction, partial) : `transaction: ${problem}`
}

/** The signature slot of the relayer itself may contain anything. */
function checkSignatures({ signatures, message, messageBytes }: WireTransaction, partial: boolean): Problem {
  for (const [index, signature] of signatures.entries()) {
    const signer = message.staticAccounts[index]
    if (index === 0 || signer === undefined) continue
    const missing = signature.every((byte) => byte === 0)
    if (missing && partial) continue
    if (missing) return `transaction: the signature of ${signer} is missing; only the relayer's may be.`
    if (!isBy(signature, addressBytes(signer), messageBytes))
      return `transaction: the signature of ${signer} is not for this transaction.`
  }
  return undefined
}

/**
 * The limit of accounts, for each instruction and for all together: without tables, more than 38 do not fit
 * into the bytes anyway.
 */
const [MAX_ACCOUNTS] = ACCOUNT_LOCKS

/** Checks instructions from which the service builds a transaction. */
function checkInstructions(instructions: readonly SolanaInstruction[], self: string): Problem {
  if (instructions.length > MAX_INSTRUCTIONS) {
    return `instructions: at most ${MAX_INSTRUCTIONS} are expected, ${instructions.length} were given.`
  }
  for (const [index, instruction] of instructions.entries()) {
    const problem = checkInstruction(instruction, `instructions[${index}]`, self)
    if (problem !== undefined) return problem
  }
  return checkTogether(instructions, self)
}

function checkInstruction(
  { programId, accounts, data }: SolanaInstruction,
  at: string,
  self: string,
): Problem {
  if (!isAddress(programId)) return `${at}.program_id: 32 bytes in base58 are expected.`
  if (programId === self) return `${at}.program_id: a program is expected, not the relayer's own account.`
  if (accounts.length > MAX_ACCOUNTS) {
    return `${at}.accounts: at most ${MAX_ACCOUNTS} are expected, ${accounts.length} were given.`
  }
  for (const [index, { pubkey, isSigner }] of accounts.entries()) {
    const path = `${at}.accounts[${index}]`
    if (!isAddress(pubkey)) return `${path}.pubkey: 32 bytes in base58 are expected.`
    if (isSigner && pubkey !== self)
      return `${path}.is_signer: only the relayer ${self} signs; send what others sign as a transaction.`
  }
  const bytes = readBase64(data)
  if (bytes === undefined) return `${at}.data: base64 with padding is expected.`
  return bytes.length > MAX_TRANSACTION_BYTES
    ? `${at}.data: at most ${MAX_TRANSACTION_BYTES} bytes are expected, ${bytes.length} were given.`
    : undefined
}

function checkTogether(instructions: readonly SolanaInstruction[], self: string): Problem {
  const message = composeMessage(self, instructions)
  const count = message.staticAccounts.length
  if (count > MAX_ACCOUNTS) {
    return `instructions: together at most ${MAX_ACCOUNTS} different accounts are expected, ${count} were given.`
  }
  const size = transactionSize(message)
  if (size > MAX_TRANSACTION_BYTES) {
    return `instructions: at most ${MAX_TRANSACTION_BYTES} bytes of a transaction are expected, these make ${size}.`
  }
  if (decodeMessage(encodeMessage(message)) === undefined)
    return 'instructions: the network would not accept the transaction that they make.'
  const problem = checkLimits(message)
  return problem && `instructions: ${problem}`
}
