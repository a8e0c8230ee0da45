import type { AccountFunds } from '../../chains/capabilities.ts'
import { larger, smaller } from '../../lib/bigint.ts'
import type { TopUp } from '../../relayers/top-up/top-up.ts'
import type { TopUpHistory } from './history.ts'

/** What to do for a relayer. `amount` is in the smallest unit. */
export type TopUpDecision =
  | { readonly kind: 'enough' }
  | { readonly kind: 'limit_reached' }
  | { readonly kind: 'pay'; readonly amount: bigint }

/**
 * Decides about a relayer without an open top-up. What the chain holds back of a new account is paid on top, so that `to` can be spent, and
 * counts for the limit as everything that is paid. Pure.
 */
export function decideTopUp(
  { below, to, max_per_day }: TopUp,
  { spendable, missingReserve }: AccountFunds,
  { paid }: Pick<TopUpHistory, 'paid'>,
): TopUpDecision {
  if (spendable >= below) return { kind: 'enough' }
  const left = larger(0n, max_per_day - paid)
  const amount = smaller(to - spendable + missingReserve, left)
  // Less than the reserve would leave the relayer with nothing to spend.
  return amount <= missingReserve ? { kind: 'limit_reached' } : { kind: 'pay', amount }
}
