import { larger, smaller } from '../../../lib/bigint.ts'
import type { Refusal } from '../../answer.ts'
import type { StellarDraft, StellarRequest } from '../content.ts'
import type { StellarAccount, StellarAttempt } from '../types.ts'

/** What the contract promises when `max_fee` is absent, in stroops. */
const DEFAULT_MAX_FEE = 1_000_000n

/**
 * The base fee of every public network, in stroops for each operation (`baseFee` of the ledger header). The validators could
 * vote for another one; below it a node takes nothing.
 */
export const MIN_FEE_PER_OPERATION = 100n

/**
 * stellar-core `TransactionQueue::FEE_MULTIPLIER`: a queued transaction is replaced only by a fee bump of the same sequence
 * number whose fee for each operation is at least this many times that of the queued one.
 */
const REPLACEMENT_FACTOR = 10n

/** What a transaction can offer outside a fee bump is a `uint32` of XDR. */
export const MAX_PLAIN_FEE = 2n ** 32n - 1n

/** The parts of a fee. */
type Fee = Pick<StellarDraft, 'feePerOperation' | 'operationCount' | 'resourceFee'>

/** The fee in the envelope that goes out, in stroops. A fee bump counts as one more operation (CAP-15). */
export function totalFee({ feePerOperation, operationCount, resourceFee }: Fee, bumped: boolean): bigint {
  return feePerOperation * BigInt(operationCount + (bumped ? 1 : 0)) + resourceFee
}

/** The most that the request may cost, in stroops. */
export function budgetOf({ maxFee }: Pick<StellarRequest, 'maxFee'>, { policies }: StellarAccount): bigint {
  return maxFee ?? smaller(DEFAULT_MAX_FEE, policies.maxFee ?? DEFAULT_MAX_FEE)
}

/** What is wanted of a bid, and what limits it. */
export interface Wish {
  /** What the network takes at present, in stroops for each operation. */
  readonly market: bigint
  /** Less is of no use: no node would take it. */
  readonly least: bigint
  readonly operationCount: number
  readonly resourceFee: bigint
  readonly maxFee: bigint
}

/** A bid in stroops for each operation; or what `max_fee` would have to be. */
export type Bid =
  | { readonly kind: 'bid'; readonly feePerOperation: bigint; readonly wanted: bigint }
  | { readonly kind: 'short'; readonly needed: bigint }

/**
 * The bid for a wish. It leaves room for a fee bump in any case: one is needed to replace the transaction, and to send it
 * through a channel account. The network charges what a ledger asks, which is mostly less than the bid.
 */
export function decideBid({ market, least, operationCount, resourceFee, maxFee }: Wish): Bid {
  const count = BigInt(operationCount + 1)
  const affordable = (maxFee - resourceFee) / count
  if (affordable < least) return { kind: 'short', needed: least * count + resourceFee }
  const wanted = larger(market, least)
  const payable = smaller(affordable, (MAX_PLAIN_FEE - resourceFee) / count)
  return { kind: 'bid', feePerOperation: smaller(wanted, larger(payable, least)), wanted }
}

/**
 * The least bid that a node takes in place of what may lie in its queue, in stroops for each operation; undefined when
 * nothing may.
 */
export function replacementFloor(attempts: readonly StellarAttempt[]): bigint | undefined {
  const open = openOf(attempts)
  if (open.length === 0) return undefined
  return REPLACEMENT_FACTOR * open.map(({ draft }) => draft.feePerOperation).reduce(larger)
}

/** The attempts that a node may still hold. */
export function openOf(attempts: readonly StellarAttempt[]): readonly StellarAttempt[] {
  return attempts.filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
}

/** The budget does not pay for what the network asks at least. */
export function aboveBudget(needed: bigint, maxFee: bigint): Refusal {
  return {
    code: 'fee_above_cap',
    detail: `max_fee: at least ${needed} stroops are expected, what the network asks and the room for a fee bump; ${maxFee} are allowed.`,
  }
}

/** The budget does not pay for a replacement. */
export function underpriced(needed: bigint, maxFee: bigint): Refusal {
  return {
    code: 'replacement_underpriced',
    detail: `max_fee: at least ${needed} stroops are expected, ${REPLACEMENT_FACTOR} times the rate of the attempt that is in the queue; ${maxFee} are allowed.`,
  }
}
