import { READ_METHODS as EVM } from '../chains/evm/read-methods.ts'
import { READ_METHODS as SOLANA } from '../chains/solana/read-methods.ts'
import { READ_METHODS as STELLAR } from '../chains/stellar/read-methods.ts'
import type { NetworkType } from '../networks/network.ts'

/** The RPC methods that every relayer may pass on: reads, prices and simulations. */
export const READ_METHODS: Readonly<Record<NetworkType, readonly string[]>> = {
  evm: EVM,
  solana: SOLANA,
  stellar: STELLAR,
}
