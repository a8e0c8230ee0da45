import { larger, smaller } from '../../../lib/bigint.ts'
import type { Answer, Refusal } from '../../answer.ts'
import type { SpeedMeaning } from '../../chain.ts'
import { askStatements, isNear, secondHighest } from '../../rpc/agreement.ts'
import type { PooledClient, RpcReply } from '../../rpc/rpc.ts'
import type { Speed } from '../../speed.ts'
import type { SolanaPolicies } from '../content.ts'
import { fieldsOf, readInteger, resultOf, TOLERATED_SLOTS } from '../read/replies.ts'
import { accountsOf, BUILTINS, COMPUTE_BUDGET_PROGRAM, PRECOMPILES } from '../wire/addresses.ts'
import { type Message, programOf } from '../wire/message.ts'

/**
 * The fee limit of one transaction when the relayer has no `max_allowed_fee_lamports`: 200 times a signature.
 * Without any limit, the author of a transaction could set any price for priority.
 */
const DEFAULT_MAX_FEE = 1_000_000n

/**
 * The margin above the units that the simulation used, in percent: accounts change between simulation and
 * block.
 */
const UNIT_MARGIN_PERCENT = 10

/**
 * The smallest margin, in compute units: a tenth of a very small number is less than one instruction of the
 * service uses.
 */
const MIN_UNIT_MARGIN = 300

/** Returns the highest fee of one transaction, in lamports. */
export function feeCap({ maxFee }: SolanaPolicies): bigint {
  return maxFee ?? DEFAULT_MAX_FEE
}

/** Returns the limit for a transaction whose simulation used this many units. */
export function unitLimitFor(unitsUsed: bigint): number {
  const used = Number(unitsUsed)
  const margin = Math.max(MIN_UNIT_MARGIN, Math.ceil((used * UNIT_MARGIN_PERCENT) / 100))
  return Math.min(MAX_UNITS, used + margin)
}

/** A price that the cap allows; or the fee that the cap would have to allow. */
export type Bid =
  | { readonly kind: 'bid'; readonly unitPrice: bigint; readonly wanted: bigint }
  | { readonly kind: 'short'; readonly needed: bigint }

/** Chooses the market's price for priority, limited by the cap; signatures have to be paid in any case. */
export function chooseBid(
  message: Message,
  { wanted, unitLimit, cap }: { wanted: bigint; unitLimit: number; cap: bigint },
): Bid {
  const signatures = signatureFee(message)
  if (signatures > cap) return { kind: 'short', needed: signatures }
  return { kind: 'bid', unitPrice: smaller(wanted, affordablePrice(cap - signatures, unitLimit)), wanted }
}

/**
 * Returns the highest price for priority of this message that the cap allows, in micro-lamports for each
 * compute unit.
 */
export function priceCap(message: Message, policies: SolanaPolicies): bigint {
  const unitLimit = readBudget(message).unitLimit ?? defaultUnits(message)
  return affordablePrice(larger(0n, feeCap(policies) - signatureFee(message)), unitLimit)
}

/** Refuses a fee that is higher than the relayer pays for one transaction. */
export function aboveCap(needed: bigint, cap: bigint): Refusal {
  return {
    code: 'fee_above_cap',
    detail: `The fee of the transaction is up to ${needed} lamports, and max_allowed_fee_lamports is ${cap}.`,
  }
}

/**
 * The price of one signature, in lamports (agave `DEFAULT_TARGET_LAMPORTS_PER_SIGNATURE` halved; the same
 * since genesis).
 */
const LAMPORTS_PER_SIGNATURE = 5_000n

/** Priority prices are in millionths of a lamport for each compute unit. */
const MICRO = 1_000_000n

/** The highest number of compute units of one transaction (agave `MAX_COMPUTE_UNIT_LIMIT`). */
export const MAX_UNITS = 1_400_000

/**
 * Each instruction adds this to the limit when none is set (agave `DEFAULT_INSTRUCTION_COMPUTE_UNIT_LIMIT`,
 * and `MAX_BUILTIN_ALLOCATION_COMPUTE_UNIT_LIMIT` for programs of the validator itself, SIMD-170).
 */
const UNITS_PER_INSTRUCTION = 200_000
const UNITS_PER_BUILTIN = 3_000

/**
 * One transaction may load at most this many bytes of accounts, which is also the default (agave
 * `MAX_LOADED_ACCOUNTS_DATA_SIZE_BYTES`).
 */
export const MAX_LOADED_BYTES = 64 * 1024 * 1024

/**
 * The instructions of the compute budget program that matter here: the first byte of their data
 * (`ComputeBudgetInstruction`).
 */
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

/**
 * The shortest data of each kind, in bytes; heap frames (1) matter here only because a message may contain
 * them once.
 */
const LEAST_BYTES: ReadonlyMap<number | undefined, number> = new Map([
  [1, 5],
  [SET_UNIT_LIMIT, 5],
  [SET_UNIT_PRICE, 9],
  [SET_LOADED_BYTES, 5],
])

/**
 * Explains why the network would refuse the message: it cannot read an instruction of the compute budget
 * program, or there is a second one of the same kind (agave
 * `compute-budget-instruction/src/compute_budget_instruction_details.rs`).
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

/**
 * The compute units that an instruction of the compute budget takes itself (agave `DEFAULT_COMPUTE_UNITS`).
 */
const UNITS_OF_BUDGET = 150

/**
 * Returns the message with room for further instructions of the budget: a limit that its caller sets may be
 * exactly what was measured without them.
 */
export function withUnitsFor(message: Message, added: Budget): Message {
  const units = UNITS_OF_BUDGET * Object.keys(added).length
  const instructions = message.instructions.map((one) => {
    const data = Buffer.from(one.data ?? [])
    const isLimit = programOf(message, one) === COMPUTE_BUDGET_PROGRAM && data[0] === SET_UNIT_LIMIT
    if (!isLimit || data.length < 5) return one
    return { ...one, data: withNumber(SET_UNIT_LIMIT, Math.min(MAX_UNITS, data.readUInt32LE(1) + units)) }
  })
  return { ...message, instructions } as Message
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

/**
 * Returns the charge for the signatures in lamports, including those that instructions contain for
 * verification.
 */
function signatureFee(message: Message): bigint {
  const inside = message.instructions
    .filter((instruction) => PRECOMPILES.includes(programOf(message, instruction)))
    .reduce((sum, { data }) => sum + (data?.[0] ?? 0), 0)
  return LAMPORTS_PER_SIGNATURE * BigInt(message.header.numSignerAccounts + inside)
}

/**
 * Returns the cost of `unitLimit` units at this price in lamports, rounded up like the network does (agave
 * `get_prioritization_fee`).
 */
function priorityFee(unitPrice: bigint, unitLimit: number): bigint {
  return (unitPrice * BigInt(unitLimit) + MICRO - 1n) / MICRO
}

/** Returns the highest price at which this many units cost no more than `lamports`. */
function affordablePrice(lamports: bigint, unitLimit: number): bigint {
  return unitLimit === 0 ? 0n : (lamports * MICRO) / BigInt(unitLimit)
}

/** Returns the highest amount that the network charges for a message, in lamports. */
export function feeOf(message: Message): bigint {
  const { unitPrice = 0n, unitLimit } = readBudget(message)
  const limit = unitLimit ?? defaultUnits(message)
  return signatureFee(message) + priorityFee(unitPrice, Math.min(limit, MAX_UNITS))
}

function defaultUnits(message: Message): number {
  return message.instructions
    .map((instruction) =>
      BUILTINS.has(programOf(message, instruction)) ? UNITS_PER_BUILTIN : UNITS_PER_INSTRUCTION,
    )
    .reduce((sum, units) => sum + units, 0)
}

/**
 * Returns the fee of a message where its bytes alone decide it; undefined if the network adds its own unit
 * limit to a price, which changes with its rules.
 */
export function exactFeeOf(message: Message): bigint | undefined {
  const { unitPrice = 0n, unitLimit } = readBudget(message)
  return unitPrice === 0n || unitLimit !== undefined ? feeOf(message) : undefined
}

/** The percentile of the recent prices for each speed. Blocks without such a price count as 0. */
const PERCENTILES: Readonly<Record<Speed, number>> = { safeLow: 30, average: 50, fast: 85, fastest: 99 }

/** The highest number of accounts of one question (agave `MAX_TX_ACCOUNT_LOCKS`). */
const MAX_ACCOUNTS = 128

/**
 * Reads the market price for priority, in micro-lamports for each compute unit. Blocks fill up by account, so
 * the price is that of recent blocks which wrote to the same accounts.
 */
export async function askPrice(
  client: PooledClient,
  message: Message,
  speed: Speed,
): Promise<Answer<bigint>> {
  const writable = accountsOf(message)
    .filter((account) => account.writable)
    .map(({ address }) => address)
  const told = await askStatements(client, {
    calls: [{ method: 'getRecentPrioritizationFees', params: [writable.slice(0, MAX_ACCOUNTS)] }],
    read: ([endpointReply]) => readPrice(endpointReply?.reply, speed),
    isSame: (one, other) => one !== 'untold' && other !== 'untold' && isNear(one, other, NEGLIGIBLE_PRICE),
    toleratedBlocks: TOLERATED_SLOTS,
  })
  if (told.kind !== 'ok') return told
  const prices = told.value.flatMap(({ value }) => (value === 'untold' ? [] : [value]))
  return { kind: 'ok', value: secondHighest(prices) ?? 0n }
}

/**
 * At this price and below, in micro-lamports, priority costs less than a signature, whatever the units: it is
 * not compared.
 */
const NEGLIGIBLE_PRICE = 1_000n

/**
 * `untold`: not every provider offers the method. Where none does, the service pays nothing for priority, and
 * prices the transaction again after it expires.
 */
function readPrice(reply: RpcReply | undefined, speed: Speed): Answer<bigint | 'untold'> {
  if (reply?.kind === 'error') return { kind: 'ok', value: 'untold' }
  const result = resultOf(reply)
  if (result.kind !== 'ok') return result
  const fees = readFees(result.value)
  if (fees === undefined) return { kind: 'unknown', detail: 'the endpoint did not answer with prices' }
  return { kind: 'ok', value: priceFor(fees, speed) }
}

/** Returns the price for the speed, from the lowest prices that recent blocks accepted. */
export function priceFor(fees: readonly bigint[], speed: Speed): bigint {
  const sorted = [...fees].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const rank = Math.min(sorted.length - 1, Math.floor((sorted.length * PERCENTILES[speed]) / 100))
  const hundredths = BigInt(Math.round(SPEEDS[speed].priceMultiplier * 100))
  return ((sorted[rank] ?? 0n) * hundredths) / 100n
}

function readFees(value: unknown): bigint[] | undefined {
  if (!Array.isArray(value)) return undefined
  const fees = value.map((entry) => readInteger(fieldsOf(entry).prioritizationFee))
  return fees.every((fee) => fee !== undefined) ? fees : undefined
}

/**
 * A blockhash is valid for 150 blocks, about a minute; a transaction that no block has included by then is
 * signed again at the price of that time.
 */
const RENEWED_AFTER_SECONDS = 60

export const SPEEDS: Readonly<Record<Speed, SpeedMeaning>> = {
  safeLow: { priceMultiplier: 1, raiseAfterSeconds: RENEWED_AFTER_SECONDS },
  average: { priceMultiplier: 1.25, raiseAfterSeconds: RENEWED_AFTER_SECONDS },
  fast: { priceMultiplier: 1.5, raiseAfterSeconds: RENEWED_AFTER_SECONDS },
  fastest: { priceMultiplier: 2, raiseAfterSeconds: RENEWED_AFTER_SECONDS },
}
