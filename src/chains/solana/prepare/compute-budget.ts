import { type Message, programOf } from '../wire/message.ts'
import { COMPUTE_BUDGET_PROGRAM, PRECOMPILES } from '../wire/programs.ts'

/** What one signature costs, in lamports (agave `DEFAULT_TARGET_LAMPORTS_PER_SIGNATURE` halved; the same since genesis). */
const LAMPORTS_PER_SIGNATURE = 5_000n

/** Prices of priority are told in millionths of a lamport for a compute unit. */
const MICRO = 1_000_000n

/** Most compute units of one transaction (agave `MAX_COMPUTE_UNIT_LIMIT`). */
export const MAX_UNITS = 1_400_000

/** What each instruction adds to the limit when none is set (agave `DEFAULT_INSTRUCTION_COMPUTE_UNIT_LIMIT`). */
const UNITS_PER_INSTRUCTION = 200_000

/** Most bytes of accounts that one transaction may load, and what holds when none is set (agave `MAX_LOADED_ACCOUNTS_DATA_SIZE_BYTES`). */
export const MAX_LOADED_BYTES = 64 * 1024 * 1024

/** The instructions of the compute budget program that count here: the first byte of their data (`ComputeBudgetInstruction`). */
const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3
const SET_LOADED_BYTES = 4

/** What a message says of its own budget. What it does not say is absent. */
export interface Budget {
  readonly unitLimit?: number
  /** In micro-lamports for each compute unit. */
  readonly unitPrice?: bigint
  /** Bytes of accounts that may be loaded. */
  readonly loadedBytes?: number
}

/** Reads what the instructions of the compute budget program say. */
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

/** Bytes of each kind at least; heap frames (1) count here only as something that may stand once. */
const LEAST_BYTES: ReadonlyMap<number | undefined, number> = new Map([
  [1, 5],
  [SET_UNIT_LIMIT, 5],
  [SET_UNIT_PRICE, 9],
  [SET_LOADED_BYTES, 5],
])

/**
 * Why the network would not look at the message: an instruction of the compute budget program that it cannot read, or a second one of
 * the same kind (agave `compute-budget-instruction/src/compute_budget_instruction_details.rs`).
 */
export function budgetProblem(message: Message): string | undefined {
  const seen = new Set<number | undefined>()
  for (const [index, instruction] of message.instructions.entries()) {
    if (programOf(message, instruction) !== COMPUTE_BUDGET_PROGRAM) continue
    const [kind] = instruction.data ?? []
    const least = LEAST_BYTES.get(kind)
    if (least === undefined || (instruction.data?.length ?? 0) < least)
      return `instruction ${index} is none that the compute budget program knows.`
    if (seen.has(kind)) return `instruction ${index} sets the same part of the compute budget a second time.`
    seen.add(kind)
  }
  return undefined
}

/** The instructions that say it. */
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

/** What the network charges for the signatures, those that instructions bring for checking included, in lamports. */
export function signatureFee(message: Message): bigint {
  const inside = message.instructions
    .filter((instruction) => PRECOMPILES.includes(programOf(message, instruction)))
    .reduce((sum, { data }) => sum + (data?.[0] ?? 0), 0)
  return LAMPORTS_PER_SIGNATURE * BigInt(message.header.numSignerAccounts + inside)
}

/** What `unitLimit` units cost at this price, in lamports, rounded up as the network does (agave `get_prioritization_fee`). */
function priorityFee(unitPrice: bigint, unitLimit: number): bigint {
  return (unitPrice * BigInt(unitLimit) + MICRO - 1n) / MICRO
}

/** The highest price at which so many units cost no more than `lamports`. */
export function affordablePrice(lamports: bigint, unitLimit: number): bigint {
  return unitLimit === 0 ? 0n : (lamports * MICRO) / BigInt(unitLimit)
}

/** The most that the network charges for a message, in lamports. */
export function feeOf(message: Message): bigint {
  const { unitPrice = 0n, unitLimit } = readBudget(message)
  // Native programs are given less than this since SIMD-170; the difference is on the safe side.
  const limit = unitLimit ?? message.instructions.length * UNITS_PER_INSTRUCTION
  return signatureFee(message) + priorityFee(unitPrice, Math.min(limit, MAX_UNITS))
}
