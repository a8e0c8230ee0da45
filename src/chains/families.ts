import type { NetworkType } from '../networks/network.ts'
import type { ContentReader } from './capabilities.ts'
import { READ_METHODS as EVM, EVM_CONTENT } from './evm/family.ts'
import { READ_METHODS as SOLANA, SOLANA_CONTENT } from './solana/family.ts'
import { READ_METHODS as STELLAR, STELLAR_CONTENT } from './stellar/family.ts'

/** The readers of stored content by the type of the network. They need no endpoint, so they also read what removed relayers sent. */
export const CONTENT_READERS: Readonly<Record<NetworkType, ContentReader>> = {
  evm: EVM_CONTENT,
  stellar: STELLAR_CONTENT,
  solana: SOLANA_CONTENT,
}

/** The RPC methods that every relayer may pass on: reads, prices and simulations. */
export const READ_METHODS: Readonly<Record<NetworkType, readonly string[]>> = {
  evm: EVM,
  solana: SOLANA,
  stellar: STELLAR,
}
