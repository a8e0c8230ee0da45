import { publicKey, type Reader } from '../../lib/fields.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { CatalogueEntry } from '../catalogue/entry.ts'
import { DEFAULT_SLOT_TIME_MS, type SolanaNetwork } from '../network.ts'
import { BLOCKTIME, type NetworkFamily, type SharedFields } from './family.ts'

/**
 * Sources: the clusters and their public endpoints of the Solana documentation; `localnet` is a developer's
 * own validator.
 */
const SOLANA_CATALOGUE: readonly CatalogueEntry[] = [
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

/** The clusters of Solana. */
export const SOLANA_NETWORKS: NetworkFamily<'solana'> = {
  catalogue: SOLANA_CATALOGUE,
  otherNames: { mainnet: 'mainnet-beta', solana: 'mainnet-beta', local: 'localnet' },
  prefix: 'solana:',
  token: publicKey,
  native: () => ({ symbol: 'SOL', decimals: 9 }),
  read: readSolana,
}

function readSolana(reader: Reader, shared: SharedFields): SolanaNetwork {
  // The nodes of Solana report finality themselves.
  reader.ignore('required_confirmations', 'finality', 'features', 'symbol')
  const genesisHash = reader.find('genesis_hash', publicKey) ?? knownGenesisHash(shared.name)
  return omitUndefined({
    ...shared,
    type: 'solana' as const,
    genesisHash,
    averageBlocktimeMs: reader.find('average_blocktime_ms', BLOCKTIME) ?? DEFAULT_SLOT_TIME_MS,
    requiredConfirmations: 0,
  })
}

/** A cluster with the name of a public one must be that one, even when the file describes it again. */
function knownGenesisHash(name: string): string | undefined {
  return SOLANA_CATALOGUE.find(({ network }) => network === name)?.genesis_hash
}
