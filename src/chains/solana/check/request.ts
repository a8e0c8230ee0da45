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
 * What can be said against a request without asking anybody. The first problem is reported. Accounts that come from address
 * tables are looked at when the tables are read.
 */
export function checkRequest(request: SolanaRequest, account: SolanaAccount): Refusal | undefined {
  const problem = checkContent(request, account.address)
  return problem === undefined ? checkRules(request, account) : { code: 'invalid_request', detail: problem }
}

/** The same for a transaction that only has to be signed: others may sign it afterwards. */
export function checkUnsigned(transaction: string, account: SolanaAccount): Refusal | undefined {
  const problem = checkTransaction(transaction, account.address, { partial: true })
  return problem === undefined
    ? checkRules(asRequest(transaction), account)
    : { code: 'invalid_request', detail: problem }
}

/** The request to send the same. Its speed prices nothing, as nothing is added to it. */
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
