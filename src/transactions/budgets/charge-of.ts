import { type Effects, nativeIn } from '../../chains/effects.ts'
import { networkOf } from '../../relayers/network-of.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Charge } from '../../spending/budget.ts'

/** Content by what it moves, and the most that it can take from the account in the native currency. */
interface Priced {
  readonly effects: Pick<Effects, 'amounts'>
  readonly cost: bigint
}

/** Gives what content can spend at most. Whatever it costs besides what its bytes move counts as fees: gas, priority, rent. */
export function chargeOf(relayer: Relayer, { effects: { amounts }, cost }: Priced): Charge {
  return { network: networkOf(relayer), amounts, fees: feesIn(cost, nativeIn(amounts)) }
}

/** Returns the part of a cost that is not the value; 0 while the cost is not known. */
export function feesIn(cost: bigint, value: bigint): bigint {
  return cost > value ? cost - value : 0n
}
