import type { Refusal } from '../../answer.ts'
import type { SolanaRequest } from '../content.ts'
import { checkFeePayer } from '../prepare/fee-payer.ts'
import { contentOf } from '../request-content.ts'
import type { SolanaAccount } from '../types.ts'
import { accountsOf } from '../wire/accounts.ts'
import type { Problem } from './fields.ts'
import { checkInstructions } from './instructions.ts'
import { checkPolicies } from './policies.ts'
import { checkTransaction } from './transaction.ts'

/**
 * Applies the rules that need no network, and reports the first problem. Accounts from address tables are checked when the tables are read.
 */
export function checkRequest(request: SolanaRequest, account: SolanaAccount): Refusal | undefined {
  const problem = checkContent(request, account.address)
  return problem === undefined ? checkRules(request, account) : { code: 'invalid_request', detail: problem }
}

/** Applies the same rules to a transaction that the service only signs: others may sign it afterwards. */
export function checkUnsigned(transaction: string, account: SolanaAccount): Refusal | undefined {
  const problem = checkTransaction(transaction, account.address, { partial: true })
  return problem === undefined
    ? checkRules(asRequest(transaction), account)
    : { code: 'invalid_request', detail: problem }
}

/** Returns the request that sends the transaction. Its speed sets no price, because nothing is added to the transaction. */
export function asRequest(transaction: string): SolanaRequest {
  return { type: 'solana', transaction, speed: 'average' }
}

function checkRules(request: SolanaRequest, account: SolanaAccount): Refusal | undefined {
  const { message, at } = contentOf(request, account.address)
  const subject = { message, at, accounts: accountsOf(message), self: account.address }
  return checkPolicies(subject, account.policies) ?? checkFeePayer(subject, account.policies)
}

function checkContent({ transaction, instructions }: SolanaRequest, self: string): Problem {
  if (transaction !== undefined && instructions !== undefined)
    return 'transaction, instructions: one of the two is expected, not both.'
  if (transaction !== undefined) return checkTransaction(transaction, self)
  if (instructions !== undefined) return checkInstructions(instructions, self)
  return 'transaction, instructions: one of the two is expected.'
}
