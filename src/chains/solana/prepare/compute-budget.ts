import { type Message, programOf } from '../wire/message.ts'
import { COMPUTE_BUDGET_PROGRAM, PRECOMPILES } from '../wire/programs.ts'

/** The price of one signature, in lamports (agave `DEFAULT_TARGET_LAMPORTS_PER_SIGNATURE` halved; the same since genesis). */
const LAMPORTS_PER_SIGNATURE = 5_000n

/** Priority prices are in millionths of a lamport for each compute unit. */
const MICRO = 1_000_000n

/** The highest number of compute units of one transaction (agave `MAX_COMPUTE_UNIT_LIMIT`). */
export const MAX_UNITS = 1_400_000

/** Each instruction adds this to the limit when none is set (agave `DEFAULT_INSTRUCTION_COMPUTE_UNIT_LIMIT`). */
const UNITS_PER_INSTRUCTION = 200_000

/**
 * One transaction may load at most this many bytes of accounts, which is also the default (agave `MAX_LOADED_ACCOUNTS_DATA_SIZE_BYTES`).
 */
export const MAX_LOADED_BYTES = 64 * 1024 * 1024

/** The instructions of the compute budget program that matter here: the first byte of their data (`ComputeBudgetInstruction`). */
const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3
const SET_LOADED_BYTES = 4

/** The budget that a message sets. Fields that it does not set are absent. */
export interface Budget {
  readonly unitLimit?: number
  /** In micro-lamports for each compute unit. */
  readonly unitPrice?: bigint
  /** Bytes of accounts that the transaction may load. */
  readonly loadedBytes?: number
}

/** Reads the instructions of the compute budget program. */
export function readBudget(message: Message): Budget {
  const budget: { unitLimit?: number; unitPrice?: bigint; loadedBytes?: number } = {}
  for (const instruction of message.instructions) {
    if (programOf(message, instruction) !== COMPUTE_BUDGET_PROGRAM) continue
    const data = Buffer.from(instruction.data ?? [])
    if (data[0] === SET_UNIT_LIMIT && data.length >= 5) budget.unitLimit = data.readUInt32LE(1)
    if (data[0] === SET_UNIT_PRICE && data.length >= 9) budget.unitPrice = data.readBigUInt64LE(1)
    if (data[0] === SET_LOADED_BYTES && data.length >= 5) budget.loadedBytes = data.readUInt32LE(1)
  }
  return budget
}

/** The shortest data of each kind, in bytes; heap frames (1) matter here only because a message may contain them once. */
const LEAST_BYTES: ReadonlyMap<number | undefined, number> = new Map([
  [1, 5],
  [SET_UNIT_LIMIT, 5],
  [SET_UNIT_PRICE, 9],
  [SET_LOADED_BYTES, 5],
])

/**
 * Explains why the network would refuse the message: it cannot read an instruction of the compute budget program, or there is a second one
 * of the same kind (agave `compute-budget-instruction/src/compute_budget_instruction_details.rs`).
 */
export function budgetProblem(message: Message): string | undefined {
  const seen = new Set<number | undefined>()
  for (const [index, instruction] of message.instructions.entries()) {
    if (programOf(message, instruction) !== COMPUTE_BUDGET_PROGRAM) continue
    const [kind] = instruction.data ?? []
    const least = LEAST_BYTES.get(kind)
    if (least === undefined || (instruction.data?.length ?? 0) < least)
      return `the compute budget program cannot read instruction ${index}.`
    if (seen.has(kind)) return `instruction ${index} sets the same part of the compute budget a second time.`
    seen.add(kind)
  }
  return undefined
}

/** Writes the instructions that set the budget. */
export function writeBudget({ unitLimit, unitPrice, loadedBytes }: Budget): Uint8Array[] {
  const datas: Uint8Array[] = []
  if (unitLimit !== undefined) datas.push(withNumber(SET_UNIT_LIMIT, unitLimit))
  if (unitPrice !== undefined) {
    const data = Buffer.alloc(9)
    data.writeUInt8(SET_UNIT_PRICE)
    data.writeBigUInt64LE(unitPrice, 1)
    datas.push(Uint8Array.from(data))
  }
  if (loadedBytes !== undefined) datas.push(withNumber(SET_LOADED_BYTES, loadedBytes))
  return datas
}

function withNumber(kind: number, value: number): Uint8Array {
  const data = Buffer.alloc(5)
  data.writeUInt8(kind)
  data.writeUInt32LE(value, 1)
  return Uint8Array.from(data)
}

/** Returns the charge for the signatures in lamports, those included that instructions bring for verification. */
export function signatureFee(message: Message): bigint {
  const inside = message.instructions
    .filter((instruction) => PRECOMPILES.includes(programOf(message, instruction)))
    .reduce((sum, { data }) => sum + (data?.[0] ?? 0), 0)
  return LAMPORTS_PER_SIGNATURE * BigInt(message.header.numSignerAccounts + inside)
}

/** Returns the cost of `unitLimit` units at this price in lamports, rounded up like the network does (agave `get_prioritization_fee`). */
function priorityFee(unitPrice: bigint, unitLimit: number): bigint {
  return (unitPrice * BigInt(unitLimit) + MICRO - 1n) / MICRO
}

/** Returns the highest price at which this many units cost no more than `lamports`. */
export function affordablePrice(lamports: bigint, unitLimit: number): bigint {
  return unitLimit === 0 ? 0n : (lamports * MICRO) / BigInt(unitLimit)
}

/** Returns the highest amount that the network charges for a message, in lamports. */
export function feeOf(message: Message): bigint {
  const { unitPrice = 0n, unitLimit } = readBudget(message)
  // Native programs receive less than this since SIMD-170; the difference is on the safe side.
  const limit = unitLimit ?? message.instructions.length * UNITS_PER_INSTRUCTION
  return signatureFee(message) + priorityFee(unitPrice, Math.min(limit, MAX_UNITS))
}
