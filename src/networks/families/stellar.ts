import { type Reader, text } from '../../lib/fields.ts'
import type { CatalogueEntry } from '../catalogue/entry.ts'
import { DEFAULT_LEDGER_TIME_MS, type StellarNetwork } from '../network.ts'
import { BLOCKTIME, type NetworkFamily, type SharedFields } from './family.ts'

/** A quickstart container closes ledgers faster than a public network. */
const LOCAL_LEDGER_TIME_MS = 1_000

/**
 * Sources: the network passphrases and public RPC servers of the Stellar documentation; `local` is a
 * quickstart container.
 */
const STELLAR_CATALOGUE: readonly CatalogueEntry[] = [
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

const TOKEN = /^([A-Za-z0-9]{1,12}:G[A-Z2-7]{55}|C[A-Z2-7]{55})$/

/** The networks of Stellar. */
export const STELLAR_NETWORKS: NetworkFamily<'stellar'> = {
  catalogue: STELLAR_CATALOGUE,
  otherNames: { mainnet: 'pubnet', public: 'pubnet', stellar: 'pubnet', localnet: 'local' },
  prefix: 'stellar:',
  token: {
    expected: 'CODE:ISSUER, or the address of a contract',
    read: (value) => (typeof value === 'string' && TOKEN.test(value) ? value : undefined),
    blank: '',
  },
  native: () => ({ symbol: 'XLM', decimals: 7 }),
  read: readStellar,
}

function readStellar(reader: Reader, shared: SharedFields): StellarNetwork {
  // The service does not use Horizon, and a closed ledger is final at once.
  reader.ignore('horizon_url', 'required_confirmations', 'finality', 'features', 'symbol')
  return {
    ...shared,
    type: 'stellar',
    passphrase: reader.get('passphrase', text),
    averageBlocktimeMs: reader.find('average_blocktime_ms', BLOCKTIME) ?? DEFAULT_LEDGER_TIME_MS,
    requiredConfirmations: 0,
  }
}
