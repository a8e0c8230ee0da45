import type { Refusal } from '../answer.ts'
import { isPaidByUsers } from '../sponsoring.ts'
import type { SolanaPolicies } from './content.ts'
import { rentOf } from './effects/token-rent.ts'
import { aboveCap, budgetProblem, feeCap, feeOf } from './prepare/fees.ts'
import { COMPUTE_BUDGET_PROGRAM, instructionAccounts, type TransactionAccount } from './wire/addresses.ts'
import {
  accountCount,
  type CompiledInstruction,
  isMultiSigner,
  MAX_TRANSACTION_BYTES,
  type Message,
  programOf,
  transactionSize,
} from './wire/message.ts'
import { nonceProblem, systemKind } from './wire/system-instruction.ts'

/**
 * A transaction that is checked against the policies. `accounts` are those that are known: those from tables
 * are missing until the tables are read.
 */
export interface PolicySubject {
  readonly message: Message
  readonly accounts: readonly TransactionAccount[]
  /** The relayer's own address, which is always allowed. */
  readonly self: string
  /** The field of the request that contains the transaction. */
  readonly at: string
}

/** Returns a refusal when a transaction breaks a rule of the relayer. */
export function checkPolicies(subject: PolicySubject, policies: SolanaPolicies): Refusal | undefined {
  const detail =
    checkSize(subject, policies) ?? checkPrograms(subject, policies) ?? checkNames(subject, policies)
  if (detail !== undefined) return { code: 'policy_violation', detail: `${subject.at}: ${detail}` }
  const fee = feeOf(subject.message)
  const cap = feeCap(policies)
  return fee > cap ? aboveCap(fee, cap) : undefined
}

function checkSize(
  { message }: PolicySubject,
  { maxSignatures, maxDataSize }: SolanaPolicies,
): string | undefined {
  const signatures = message.header.numSignerAccounts
  if (maxSignatures !== undefined && signatures > maxSignatures) {
    return `at most ${maxSignatures} signatures are allowed (max_signatures), this transaction needs ${signatures}.`
  }
  const size = transactionSize(message)
  const most = maxDataSize ?? MAX_TRANSACTION_BYTES
  return size > most
    ? `at most ${most} bytes are allowed (max_tx_data_size), this transaction has ${size}.`
    : undefined
}

/** The compute budget program is always allowed, because the fee cap limits the price that it sets. */
function checkPrograms({ message }: PolicySubject, { allowedPrograms }: SolanaPolicies): string | undefined {
  if (allowedPrograms === undefined) return undefined
  const forbidden = programsOf(message).find(
    (program) => program !== COMPUTE_BUDGET_PROGRAM && !allowedPrograms.includes(program),
  )
  return forbidden && `program ${forbidden} is not among the relayer's allowed_programs.`
}

function checkNames(
  { message, accounts, self }: PolicySubject,
  { allowedAccounts, disallowedAccounts = [] }: SolanaPolicies,
): string | undefined {
  const names = accounts.map(({ address }) => address)
  const forbidden = names.find((address) => disallowedAccounts.includes(address))
  if (forbidden !== undefined) return `account ${forbidden} is among the relayer's disallowed_accounts.`
  if (allowedAccounts === undefined) return undefined
  // The rule allowed_programs decides about programs that are called.
  const free = new Set([self, ...programsOf(message), ...allowedAccounts])
  const unknown = names.find((address) => !free.has(address))
  return unknown && `account ${unknown} is not among the relayer's allowed_accounts.`
}

function programsOf(message: Message): string[] {
  return message.instructions.map((instruction) => programOf(message, instruction))
}

/**
 * Returns true if the relayer may be more than the payer of the fee. A transaction that others also sign is
 * theirs, and the relayer only pays for it, always where users pay the relayer; a transaction with only the
 * relayer's signature is the caller's own order.
 */
export function maySpend(message: Message, policies: SolanaPolicies): boolean {
  const { feePayerSpending = 'own' } = policies
  if (isMultiSigner(message) && isPaidByUsers(policies)) return false
  return feePayerSpending === 'always' || (feePayerSpending === 'own' && !isMultiSigner(message))
}

/**
 * Refuses a transaction that passes the relayer's account to an instruction. The fee payer is a writable
 * signer of the whole transaction: every program that receives its account acts with its authority, and may
 * take its lamports, its tokens and everything that it owns, itself or through programs that it calls.
 */
export function checkFeePayer(subject: PolicySubject, policies: SolanaPolicies): Refusal | undefined {
  const { message, accounts, self, at } = subject
  if (maySpend(message, policies)) return undefined
  const index = message.instructions.findIndex(
    (instruction) =>
      instructionAccounts(accounts, instruction).some(({ address }) => address === self) &&
      !isHarmless(subject, instruction, policies),
  )
  const instruction = message.instructions[index]
  if (instruction === undefined) return undefined
  return {
    code: 'fee_payer_at_risk',
    detail: `${at}: instruction ${index} passes the relayer's account to program ${programOf(message, instruction)}, which could then act with its authority. ${REMEDIES[policies.feePayerSpending ?? 'own']}`,
  }
}

const REMEDIES = {
  own: 'In a transaction that others also sign, the relayer only pays the fee; its policy fee_payer_spending could allow more.',
  never: 'Its policy fee_payer_spending is never.',
  token_accounts: 'Its policy fee_payer_spending allows it to pay for associated token accounts alone.',
  always: '',
} as const

/**
 * Advancing a durable nonce moves nothing, and a transfer only takes from its first account. But users who
 * pay are strangers: advancing a nonce of the relayer would end what it has signed with it.
 */
function isHarmless(
  subject: PolicySubject,
  instruction: CompiledInstruction,
  policies: SolanaPolicies,
): boolean {
  const { message, accounts, self } = subject
  if (rentOf(subject, instruction, policies) !== undefined) return true
  const kind = systemKind(message, instruction)
  if (kind === 'advanceNonce') return !(isMultiSigner(message) && isPaidByUsers(policies))
  return kind === 'transfer' && instructionAccounts(accounts, instruction)[0]?.address !== self
}

/**
 * The highest number of instructions of one transaction, those of the compute budget included (agave
 * `MAX_INSTRUCTION_TRACE_LENGTH`, SIMD-160).
 */
export const MAX_INSTRUCTIONS = 64

/**
 * The highest number of accounts of one transaction, those from tables included (agave
 * `accounts-db/src/account_locks.rs`): 64, and 128 on networks with the feature
 * `increase_tx_account_lock_limit`. The simulation shows which of the two applies.
 */
export const ACCOUNT_LOCKS = [64, 128] as const

/** Checks the limits that apply on every network, for any accounts. Returns a sentence without the field. */
export function checkLimits(message: Message): Problem {
  const { length } = message.instructions
  if (length > MAX_INSTRUCTIONS)
    return `at most ${MAX_INSTRUCTIONS} instructions are expected, these are ${length}.`
  const accounts = accountCount(message)
  const [, most] = ACCOUNT_LOCKS
  if (accounts > most)
    return `at most ${most} accounts are expected, with those from tables these are ${accounts}.`
  return budgetProblem(message) ?? nonceProblem(message)
}

/** A sentence that begins with the field and states the expected value; undefined if nothing is wrong. */
export type Problem = string | undefined

/** Decodes base64; undefined for other text, and for text that is not the canonical encoding of its bytes. */
export function readBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? Uint8Array.from(bytes) : undefined
}
