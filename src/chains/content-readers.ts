import type { NetworkType } from '../networks/network.ts'
import type { ContentReader } from './capabilities.ts'
import { EVM_CONTENT } from './evm/read-content.ts'
import { SOLANA_CONTENT } from './solana/read-content.ts'
import { STELLAR_CONTENT } from './stellar/read-content.ts'

/** The readers of stored content by the type of the network. They need no endpoint, so they also read what removed relayers sent. */
export const CONTENT_READERS: Readonly<Record<NetworkType, ContentReader>> = {
  evm: EVM_CONTENT,
  stellar: STELLAR_CONTENT,
  solana: SOLANA_CONTENT,
}
