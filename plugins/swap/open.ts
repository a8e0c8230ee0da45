import type { World } from '../shared/host.ts'
import type { EvmRouter, SolanaRouter, StellarRouter, Swap } from './config.ts'
import { openEvmExchange } from './evm/exchange.ts'
import type { Exchange } from './exchange.ts'
import { openSolanaExchange } from './solana/exchange.ts'
import { openStellarExchange } from './stellar/exchange.ts'

/** Makes the market of a swap. @throws Refusal for a relayer that does not fit, Unavailable */
export function open({ router, ...swap }: Swap, world: World): Promise<Exchange> {
  switch (router.type) {
    case 'uniswap_v3':
      return openEvmExchange({ ...swap, router } satisfies Swap<EvmRouter>, world)
    case 'jupiter':
      return openSolanaExchange({ ...swap, router } satisfies Swap<SolanaRouter>, world)
    case 'stellar_path':
      return openStellarExchange({ ...swap, router } satisfies Swap<StellarRouter>, world)
  }
}
