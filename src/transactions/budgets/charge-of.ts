import type { Chain, ChainRequest } from '../../chains/chain.ts'
import { NATIVE } from '../../chains/effects.ts'
import type { Charge } from '../../spending/budget.ts'

/** A request, the account that sends it, and what is known of its price. */
interface Priced {
  readonly chain: Chain
  readonly request: ChainRequest
  readonly address: string
  /** By type and name. */
  readonly network: string
  /** The most that it can take from the account in the native currency. */
  readonly cost: bigint
}

/** Gives what a request can spend at most. Whatever it costs besides what its bytes move counts as fees: gas, priority, rent. */
export function chargeOf({ chain, request, address, network, cost }: Priced): Charge {
  const { amounts } = chain.effects(request, address)
  const value = amounts.find(({ asset }) => asset === NATIVE)?.value ?? 0n
  return { network, amounts, fees: cost > value ? cost - value : 0n }
}
