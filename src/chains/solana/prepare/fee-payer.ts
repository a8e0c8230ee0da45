import type { Refusal } from '../../answer.ts'
import type { PolicySubject } from '../check/policies.ts'
import type { SolanaPolicies } from '../content.ts'
import { instructionAccounts } from '../wire/accounts.ts'
import { type CompiledInstruction, isMultiSigner, type Message, programOf } from '../wire/message.ts'
import { systemKind } from '../wire/system-instruction.ts'

/**
 * Returns true when the relayer may be more than the payer of the fee. A transaction that others also sign is theirs, and the relayer only
 * pays for it; a transaction with only the relayer's signature is the caller's own order.
 */
export function maySpend(message: Message, { feePayerSpending = 'own' }: SolanaPolicies): boolean {
  return feePayerSpending === 'always' || (feePayerSpending === 'own' && !isMultiSigner(message))
}

/**
 * Refuses a transaction that gives the relayer's account to an instruction. The fee payer is a writable signer of the whole transaction:
 * every program that receives its account acts with its authority, and may take its lamports, its tokens and everything that it owns,
 * itself or through programs that it calls.
 */
export function checkFeePayer(subject: PolicySubject, policies: SolanaPolicies): Refusal | undefined {
  const { message, accounts, self, at } = subject
  if (maySpend(message, policies)) return undefined
  const index = message.instructions.findIndex(
    (instruction) =>
      instructionAccounts(accounts, instruction).some(({ address }) => address === self) &&
      !isHarmless(subject, instruction),
  )
  const instruction = message.instructions[index]
  if (instruction === undefined) return undefined
  return {
    code: 'fee_payer_at_risk',
    detail: `${at}: instruction ${index} gives the relayer's account to program ${programOf(message, instruction)}, which could then act with its authority. ${REMEDIES[policies.feePayerSpending ?? 'own']}`,
  }
}

const REMEDIES = {
  own: 'In a transaction that others sign too, the relayer only pays the fee; its policy fee_payer_spending could allow more.',
  never: 'Its policy fee_payer_spending is never.',
  always: '',
} as const

/** Advancing a durable nonce moves nothing, and a transfer only takes from its first account. */
function isHarmless({ message, accounts, self }: PolicySubject, instruction: CompiledInstruction): boolean {
  const kind = systemKind(message, instruction)
  if (kind === 'advanceNonce') return true
  return kind === 'transfer' && instructionAccounts(accounts, instruction)[0]?.address !== self
}
