import { smaller } from '../../../lib/bigint.ts'
import type { Refusal } from '../../answer.ts'
import type { SolanaPolicies } from '../content.ts'
import type { Message } from '../wire/message.ts'
import { affordablePrice, MAX_UNITS, signatureFee } from './compute-budget.ts'

/**
 * The fee limit of one transaction when the relayer has no `max_allowed_fee_lamports`: 200 times a signature. Without any limit, the author
 * of a transaction could set any price for priority.
 */
const DEFAULT_MAX_FEE = 1_000_000n

/** The margin above the units that the simulation used, in percent: accounts change between simulation and block. */
const UNIT_MARGIN_PERCENT = 10

/** The smallest margin, in compute units: a tenth of a very small number is less than one instruction of the service uses. */
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
export function decideBid(
  message: Message,
  { wanted, unitLimit, cap }: { wanted: bigint; unitLimit: number; cap: bigint },
): Bid {
  const signatures = signatureFee(message)
  if (signatures > cap) return { kind: 'short', needed: signatures }
  return { kind: 'bid', unitPrice: smaller(wanted, affordablePrice(cap - signatures, unitLimit)), wanted }
}

/** Refuses a fee that is higher than the relayer pays for one transaction. */
export function aboveCap(needed: bigint, cap: bigint): Refusal {
  return {
    code: 'fee_above_cap',
    detail: `The fee of the transaction is up to ${needed} lamports, and max_allowed_fee_lamports is ${cap}.`,
  }
}
