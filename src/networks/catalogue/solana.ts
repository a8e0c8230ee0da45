import { DEFAULT_SLOT_TIME_MS } from '../defaults.ts'
import type { CatalogueEntry } from './entry.ts'

/** Sources: the clusters and their public endpoints of the Solana documentation; `localnet` is a developer's own validator. */
export const SOLANA_CATALOGUE: readonly CatalogueEntry[] = [
  {
    type: 'solana',
    network: 'mainnet-beta',
    genesis_hash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    is_testnet: false,
    average_blocktime_ms: DEFAULT_SLOT_TIME_MS,
    explorer_urls: ['https://explorer.solana.com'],
    rpc_urls: ['https://api.mainnet-beta.solana.com'],
  },
  {
    type: 'solana',
    network: 'testnet',
    genesis_hash: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY',
    is_testnet: true,
    average_blocktime_ms: DEFAULT_SLOT_TIME_MS,
    explorer_urls: ['https://explorer.solana.com?cluster=testnet'],
    rpc_urls: ['https://api.testnet.solana.com'],
  },
  {
    type: 'solana',
    network: 'devnet',
    genesis_hash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    is_testnet: true,
    average_blocktime_ms: DEFAULT_SLOT_TIME_MS,
    explorer_urls: ['https://explorer.solana.com?cluster=devnet'],
    rpc_urls: ['https://api.devnet.solana.com'],
  },
  {
    type: 'solana',
    network: 'localnet',
    is_testnet: true,
    average_blocktime_ms: DEFAULT_SLOT_TIME_MS,
    rpc_urls: ['http://localhost:8899'],
  },
]
