import { budgetProblem } from '../prepare/compute-budget.ts'
import { accountCount, type Message } from '../wire/message.ts'
import { nonceProblem } from '../wire/system-instruction.ts'
import type { Problem } from './fields.ts'

/**
 * The highest number of instructions of one transaction, those of the compute budget included (agave `MAX_INSTRUCTION_TRACE_LENGTH`,
 * SIMD-160).
 */
export const MAX_INSTRUCTIONS = 64

/**
 * The highest number of accounts of one transaction, those from tables included (agave `accounts-db/src/account_locks.rs`): 64, and 128 on
 * networks with the feature `increase_tx_account_lock_limit`. The simulation tells which of the two holds.
 */
export const ACCOUNT_LOCKS = [64, 128] as const

/** Checks the limits that hold on every network, whatever the accounts are. Returns a sentence without the field. */
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
