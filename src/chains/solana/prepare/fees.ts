import { smaller } from '../../../lib/bigint.ts'
import type { Refusal } from '../../answer.ts'
import type { SolanaPolicies } from '../content.ts'
import type { Message } from '../wire/message.ts'
import { affordablePrice, MAX_UNITS, signatureFee } from './compute-budget.ts'

/**
 * What one transaction may cost in fees when the relayer has no `max_allowed_fee_lamports`: 200 times a signature. Without
 * any limit, whoever has a transaction paid for could name any price for priority.
 */
const DEFAULT_MAX_FEE = 1_000_000n

/** Room above what the simulation used, in percent: accounts change between it and the block. */
const UNIT_MARGIN_PERCENT = 10

/** Least room, in compute units: a tenth of very little is less than one instruction of ours takes. */
const MIN_UNIT_MARGIN = 300

/** The most that one transaction may cost in fees, in lamports. */
export function feeCap({ maxFee }: SolanaPolicies): bigint {
  return maxFee ?? DEFAULT_MAX_FEE
}

/** The limit for a transaction whose simulation used so many units. */
export function unitLimitFor(unitsUsed: bigint): number {
  const used = Number(unitsUsed)
  const margin = Math.max(MIN_UNIT_MARGIN, Math.ceil((used * UNIT_MARGIN_PERCENT) / 100))
  return Math.min(MAX_UNITS, used + margin)
}

/** A price that the cap allows; or the fee that the cap would have to allow. */
export type Bid =
  | { readonly kind: 'bid'; readonly unitPrice: bigint; readonly wanted: bigint }
  | { readonly kind: 'short'; readonly needed: bigint }

/** The market's price for priority as far as the cap goes; signatures have to be paid in any case. */
export function decideBid(
  message: Message,
  { wanted, unitLimit, cap }: { wanted: bigint; unitLimit: number; cap: bigint },
): Bid {
  const signatures = signatureFee(message)
  if (signatures > cap) return { kind: 'short', needed: signatures }
  return { kind: 'bid', unitPrice: smaller(wanted, affordablePrice(cap - signatures, unitLimit)), wanted }
}

/** The fee is more than the relayer pays for one transaction. */
export function aboveCap(needed: bigint, cap: bigint): Refusal {
  return {
    code: 'fee_above_cap',
    detail: `The fee of the transaction is up to ${needed} lamports, and max_allowed_fee_lamports is ${cap}.`,
  }
}
