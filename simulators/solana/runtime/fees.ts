import {
  BUILTIN_INSTRUCTION_UNITS,
  DEFAULT_INSTRUCTION_UNITS,
  LAMPORTS_PER_SIGNATURE,
  MAX_COMPUTE_UNIT_LIMIT,
  MICRO_LAMPORTS_PER_LAMPORT,
} from './limits.ts'
import { BUILTINS, COMPUTE_BUDGET_PROGRAM, PRECOMPILES } from './programs.ts'
import type { Instruction, Message } from './transaction.ts'

/** First byte of the two instructions of the compute budget program that decide about the fee. */
const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3

/** The limits of a transaction, and its price. */
export interface ComputeBudget {
  /** Most compute units. */
  readonly limit: bigint
  /** Millionths of a lamport for each of them. */
  readonly price: bigint
}

/** Returns the budget that the message sets, or gets by default (agave compute-budget-instruction). */
export function computeBudgetOf(message: Message): ComputeBudget {
  const asked = new Map<number, bigint>()
  let byDefault = 0n
  for (const instruction of message.instructions) {
    const program = message.keys[instruction.programIndex] ?? ''
    const [kind, value] = program === COMPUTE_BUDGET_PROGRAM ? setting(instruction.data) : []
    if (kind !== undefined && value !== undefined) asked.set(kind, value)
    byDefault += BUILTINS.has(program) ? BUILTIN_INSTRUCTION_UNITS : DEFAULT_INSTRUCTION_UNITS
  }
  const price = asked.get(SET_UNIT_PRICE) ?? 0n
  const limit = asked.get(SET_UNIT_LIMIT) ?? byDefault
  if (limit > MAX_COMPUTE_UNIT_LIMIT) return { limit: MAX_COMPUTE_UNIT_LIMIT, price }
  return { limit, price }
}

function setting(data: Uint8Array): [number, bigint] | [] {
  const view = Buffer.from(data)
  if (view[0] === SET_UNIT_LIMIT && view.length >= 5) return [SET_UNIT_LIMIT, BigInt(view.readUInt32LE(1))]
  if (view[0] === SET_UNIT_PRICE && view.length >= 9) return [SET_UNIT_PRICE, view.readBigUInt64LE(1)]
  return []
}

/** Lamports that the message costs (agave fee/src/lib.rs): per signature, plus price times limit, rounded up. */
export function feeOf(message: Message): bigint {
  const { limit, price } = computeBudgetOf(message)
  const priority = (limit * price + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT
  const checked = message.instructions.reduce((sum, each) => sum + precompileSignatures(message, each), 0)
  return LAMPORTS_PER_SIGNATURE * BigInt(message.header.requiredSignatures + checked) + priority
}

function precompileSignatures({ keys }: Message, { programIndex, data }: Instruction): number {
  return PRECOMPILES.has(keys[programIndex] ?? '') ? (data[0] ?? 0) : 0
}
