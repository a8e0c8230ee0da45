import { DEFAULT_LEDGER_TIME_MS } from '../defaults.ts'
import type { CatalogueEntry } from './entry.ts'

/** A quickstart container closes ledgers faster than a public network. */
const LOCAL_LEDGER_TIME_MS = 1_000

/**
 * Sources: the network passphrases and public RPC servers of the Stellar documentation; `local` is a quickstart container.
 */
export const STELLAR_CATALOGUE: readonly CatalogueEntry[] = [
  {
    type: 'stellar',
    network: 'pubnet',
    passphrase: 'Public Global Stellar Network ; September 2015',
    is_testnet: false,
    average_blocktime_ms: DEFAULT_LEDGER_TIME_MS,
    explorer_urls: ['https://stellar.expert/explorer/public'],
  },
  {
    type: 'stellar',
    network: 'testnet',
    passphrase: 'Test SDF Network ; September 2015',
    is_testnet: true,
    average_blocktime_ms: DEFAULT_LEDGER_TIME_MS,
    explorer_urls: ['https://stellar.expert/explorer/testnet'],
    rpc_urls: ['https://soroban-testnet.stellar.org'],
  },
  {
    type: 'stellar',
    network: 'futurenet',
    passphrase: 'Test SDF Future Network ; October 2022',
    is_testnet: true,
    average_blocktime_ms: DEFAULT_LEDGER_TIME_MS,
    rpc_urls: ['https://rpc-futurenet.stellar.org'],
  },
  {
    type: 'stellar',
    network: 'local',
    passphrase: 'Standalone Network ; February 2017',
    is_testnet: true,
    average_blocktime_ms: LOCAL_LEDGER_TIME_MS,
    rpc_urls: ['http://localhost:8000/rpc'],
  },
]
