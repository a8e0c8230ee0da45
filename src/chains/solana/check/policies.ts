import type { Refusal } from '../../answer.ts'
import type { SolanaPolicies } from '../content.ts'
import { feeOf } from '../prepare/compute-budget.ts'
import { aboveCap, feeCap } from '../prepare/fees.ts'
import type { TransactionAccount } from '../wire/accounts.ts'
import { type Message, programOf } from '../wire/message.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../wire/programs.ts'
import { MAX_TRANSACTION_BYTES, transactionSize } from '../wire/transaction.ts'

/**
 * A transaction that is checked against the policies. `accounts` are those that are known: those from tables are missing until the tables
 * are read.
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
