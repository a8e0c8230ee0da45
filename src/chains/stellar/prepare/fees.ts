import { larger, smaller } from '../../../lib/bigint.ts'
import type { Refusal } from '../../answer.ts'
import type { StellarDraft, StellarRequest } from '../content.ts'
import type { StellarAccount, StellarAttempt } from '../types.ts'

/** The default of `max_fee`, in stroops: of a request, and of the policy. */
const DEFAULT_MAX_FEE = 1_000_000n

/**
 * The base fee of every public network, in stroops for each operation (`baseFee` of the ledger header). The validators could vote for
 * another one; nodes accept nothing below it.
 */
export const MIN_FEE_PER_OPERATION = 100n

/**
 * A queued transaction is replaced only by a fee bump with the same sequence number whose fee for each operation is at least this many
 * times higher (stellar-core `TransactionQueue::FEE_MULTIPLIER`).
 */
const REPLACEMENT_FACTOR = 10n

/** The fee of a transaction outside a fee bump is a `uint32` of XDR. */
export const MAX_PLAIN_FEE = 2n ** 32n - 1n

/** The parts of a fee. */
type Fee = Pick<StellarDraft, 'feePerOperation' | 'operationCount' | 'resourceFee'>

/** Returns the fee in the envelope, in stroops. A fee bump counts as one more operation (CAP-15). */
export function totalFee({ feePerOperation, operationCount, resourceFee }: Fee, bumped: boolean): bigint {
  return feePerOperation * BigInt(operationCount + (bumped ? 1 : 0)) + resourceFee
}

/** Returns the highest amount that the draft can take from the relayer's account, in stroops. A fee bump may follow. */
export function costOf(draft: StellarDraft): bigint {
  return totalFee(draft, true) + draft.spends
}

/** Returns the most that any transaction of the relayer may cost, in stroops. */
export function feeCap({ maxFee = DEFAULT_MAX_FEE }: StellarAccount['policies']): bigint {
  return maxFee
}

/** Returns the highest cost of the request, in stroops. */
export function budgetOf({ maxFee }: Pick<StellarRequest, 'maxFee'>, { policies }: StellarAccount): bigint {
  return maxFee ?? smaller(DEFAULT_MAX_FEE, feeCap(policies))
}

/** The demands on a bid, and its limits. */
export interface Wish {
  /** The price that the network accepts at present, in stroops for each operation. */
  readonly market: bigint
  /** No node accepts a lower price. */
  readonly least: bigint
  readonly operationCount: number
  readonly resourceFee: bigint
  readonly maxFee: bigint
}

/** A bid in stroops for each operation; or the necessary `max_fee`. */
export type Bid =
  | { readonly kind: 'bid'; readonly feePerOperation: bigint; readonly wanted: bigint }
  | { readonly kind: 'short'; readonly needed: bigint }

/**
 * Decides the bid. It always leaves money for a fee bump, which a replacement and a channel account need. The network charges the price of
 * the ledger, which is mostly less than the bid.
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
 * Returns the lowest bid that a node accepts in place of attempts in its queue, in stroops for each operation; undefined when there are
 * none.
 */
export function replacementFloor(attempts: readonly StellarAttempt[]): bigint | undefined {
  const open = openOf(attempts)
  if (open.length === 0) return undefined
  return REPLACEMENT_FACTOR * open.map(({ draft }) => draft.feePerOperation).reduce(larger)
}

/** Returns the attempts that a node may still hold. */
function openOf(attempts: readonly StellarAttempt[]): readonly StellarAttempt[] {
  return attempts.filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
}

/** Refuses a budget below the lowest fee of the network. */
export function aboveBudget(needed: bigint, maxFee: bigint): Refusal {
  return {
    code: 'fee_above_cap',
    detail: `max_fee: at least ${needed} stroops are expected, the price of the network and of a fee bump; ${maxFee} are allowed.`,
  }
}

/** Refuses a budget below the fee of a replacement. */
export function underpriced(needed: bigint, maxFee: bigint): Refusal {
  return {
    code: 'replacement_underpriced',
    detail: `max_fee: at least ${needed} stroops are expected, ${REPLACEMENT_FACTOR} times the rate of the attempt that is in the queue; ${maxFee} are allowed.`,
  }
}
