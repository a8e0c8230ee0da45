import type { World } from '../shared/host.ts'
import type { EvmRouter, StellarRouter, Swap } from './config.ts'
import { openEvmExchange } from './evm/exchange.ts'
import type { Exchange } from './exchange.ts'
import { openStellarExchange } from './stellar/exchange.ts'

/** Makes the market of a swap. @throws Refusal for a relayer that does not fit, Unavailable */
export function open({ router, ...swap }: Swap, world: World): Promise<Exchange> {
  return router.type === 'uniswap_v3'
    ? openEvmExchange({ ...swap, router } satisfies Swap<EvmRouter>, world)
    : openStellarExchange({ ...swap, router } satisfies Swap<StellarRouter>, world)
}
