import type { NetworkType } from './network.ts'

/** A well-known network in the words of the configuration file. */
export interface CatalogueEntry {
  readonly type: NetworkType
  readonly network: string
  readonly passphrase?: string
  readonly is_testnet: boolean
  readonly average_blocktime_ms: number
  /** Absent where nobody offers a public endpoint: the file has to name one. */
  readonly rpc_urls?: readonly string[]
}

/** How long SCP takes to close a ledger of the public networks, and of a container that is told to be quick. */
const LEDGER_TIME_MS = 5_000
const LOCAL_LEDGER_TIME_MS = 1_000

/**
 * Networks that need not be described: a relayer may name them, and a network of the file may complete them by `from`.
 * Sources: the network passphrases and public RPC servers of the Stellar documentation; `local` is a quickstart container.
 */
export const CATALOGUE: readonly CatalogueEntry[] = [
  {
    type: 'stellar',
    network: 'pubnet',
    passphrase: 'Public Global Stellar Network ; September 2015',
    is_testnet: false,
    average_blocktime_ms: LEDGER_TIME_MS,
  },
  {
    type: 'stellar',
    network: 'testnet',
    passphrase: 'Test SDF Network ; September 2015',
    is_testnet: true,
    average_blocktime_ms: LEDGER_TIME_MS,
    rpc_urls: ['https://soroban-testnet.stellar.org'],
  },
  {
    type: 'stellar',
    network: 'futurenet',
    passphrase: 'Test SDF Future Network ; October 2022',
    is_testnet: true,
    average_blocktime_ms: LEDGER_TIME_MS,
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
