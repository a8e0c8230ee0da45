import { createPublicKey, verify } from 'node:crypto'
import { type Address, getAddressEncoder } from '@solana/kit'
import type { TransactionError } from './errors.ts'
import { MAX_INSTRUCTIONS } from './limits.ts'
import { COMPUTE_BUDGET_PROGRAM } from './programs.ts'
import type { Message, WireTransaction } from './transaction.ts'

/** The bytes before the 32 bytes of an ed25519 key in SPKI (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

const toBytes = getAddressEncoder()

/** Returns true if every signature is one of the signed bytes by its key (solana-transaction `verify`). */
export function isSigned({ signatures, message }: WireTransaction): boolean {
  return signatures.every((signature, index) => {
    const key = message.keys[index]
    return key !== undefined && isSignedBy(key, message.bytes, signature)
  })
}

function isSignedBy(address: Address, bytes: Uint8Array, signature: Uint8Array): boolean {
  const der = Buffer.concat([SPKI_PREFIX, Buffer.from(toBytes.encode(address))])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return verify(null, bytes, key, signature)
}

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
