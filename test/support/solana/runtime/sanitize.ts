import type { TransactionError } from './errors.ts'
import { MAX_INSTRUCTIONS } from './limits.ts'
import { COMPUTE_BUDGET_PROGRAM } from './programs.ts'
import type { Message } from './transaction.ts'

/** Bytes of the instructions of the compute budget program, by their first byte; more bytes are passed over (borsh `unchecked`). */
const BUDGET_LENGTHS: ReadonlyMap<number | undefined, number> = new Map([
  [1, 5],
  [2, 5],
  [3, 9],
  [4, 5],
])

/**
 * Explains why a node does not look at a message at all, which JSON-RPC reports as wrong parameters: too many instructions, or instructions
 * of the compute budget program that are malformed or repeated (agave compute-budget-instruction `compute_budget_instruction_details.rs`,
 * runtime-transaction `sdk_transactions.rs`).
 */
export function sanitizeProblem({ instructions, keys }: Message): TransactionError | undefined {
  if (instructions.length > MAX_INSTRUCTIONS) return 'SanitizeFailure'
  const seen = new Set<number | undefined>()
  for (const [index, { programIndex, data }] of instructions.entries()) {
    if (keys[programIndex] !== COMPUTE_BUDGET_PROGRAM) continue
    const [kind] = data
    const length = BUDGET_LENGTHS.get(kind)
    if (length === undefined || data.length < length)
      return { InstructionError: [index, 'InvalidInstructionData'] }
    if (seen.has(kind)) return { DuplicateInstruction: index }
    seen.add(kind)
  }
  return undefined
}

/** Explains why its accounts cannot be locked (agave accounts-db `account_locks.rs` `validate_account_locks`). */
export function lockProblem(keys: readonly string[], most: number): TransactionError | undefined {
  if (keys.length > most) return 'TooManyAccountLocks'
  return new Set(keys).size < keys.length ? 'AccountLoadedTwice' : undefined
}
