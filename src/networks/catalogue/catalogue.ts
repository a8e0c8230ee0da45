import { suggest } from '../../lib/suggest.ts'
import { DEFAULT_LEDGER_TIME_MS, DEFAULT_SLOT_TIME_MS, type NetworkType } from '../network.ts'
import type { CatalogueEntry } from './entry.ts'
import { EVM_LAYER_1 } from './evm-layer-1.ts'
import { EVM_ROLLUPS } from './evm-rollups.ts'

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

/**
 * EVM: the names are those of OpenZeppelin Relayer's files, so that a relayer that refers to one keeps its
 * network. The numbers are from the chains' own documentation, and from viem's definitions, which a test
 * compares.
 */
const ENTRIES: Readonly<Record<NetworkType, readonly CatalogueEntry[]>> = {
  evm: [...EVM_LAYER_1, ...EVM_ROLLUPS],
  stellar: STELLAR_CATALOGUE,
  solana: SOLANA_CATALOGUE,
}

/**
 * Networks that need no description: a relayer can name them, and a network of the file can complete them by
 * `from`. Public endpoints are for trials: they promise nothing, and they limit each caller.
 */
export const CATALOGUE: readonly CatalogueEntry[] = Object.values(ENTRIES).flat()

/** Names by which people and other tools know networks of the catalogue. */
const OTHER_NAMES: Readonly<Record<NetworkType, Readonly<Record<string, string>>>> = {
  evm: {
    ethereum: 'mainnet',
    eth: 'mainnet',
    'ethereum-mainnet': 'mainnet',
    bsc: 'binance-smart-chain',
    bnb: 'binance-smart-chain',
    'bsc-testnet': 'binance-smart-chain-testnet',
    matic: 'polygon',
    amoy: 'polygon-amoy',
    arbitrum: 'arbitrum-one',
    'optimism-mainnet': 'optimism',
    op: 'optimism',
    avax: 'avalanche',
    fuji: 'avalanche-fuji',
    xdai: 'gnosis',
    chiado: 'gnosis-chiado',
    sei: 'sei-mainnet',
    worldchain: 'world-chain',
  },
  solana: { mainnet: 'mainnet-beta', solana: 'mainnet-beta', local: 'localnet' },
  stellar: { mainnet: 'pubnet', public: 'pubnet', stellar: 'pubnet', localnet: 'local' },
}

/** A name that no network has. */
interface UnknownNetwork {
  readonly name: string
  readonly type: NetworkType
  /** The names of all networks of this type. */
  readonly known: readonly string[]
}

/**
 * Returns ` (did you mean "x"?)` for a network by another name or with typing errors, and otherwise all names
 * that would do.
 */
export function suggestNetwork({ name, type, known }: UnknownNetwork): string {
  const names = OTHER_NAMES[type]
  const lower = name.toLowerCase()
  const meant = Object.hasOwn(names, lower) ? names[lower] : undefined
  if (meant !== undefined && known.includes(meant)) return ` (did you mean "${meant}"?)`
  return suggest(name, known) || `; known are ${known.join(', ')}`
}

/** One coin of every EVM network, in wei. */
const COIN = 10n ** 18n

/**
 * The default of `tx_fee_cap`, in whole coins by the symbol of the network's currency: the order of what one
 * ETH was worth when it became the default of geth's `--rpc.txfeecap`. A lower number holds up what people
 * pay when a network is crowded; a higher one lets a lying endpoint cost more.
 */
const FEE_CAPS: Readonly<Record<string, bigint>> = {
  AVAX: 50n,
  BERA: 500n,
  BNB: 2n,
  CELO: 3_000n,
  DEV: 10_000n,
  ETH: 1n,
  GLMR: 10_000n,
  MNT: 1_000n,
  MOVR: 100n,
  POL: 3_000n,
  S: 3_000n,
  SEI: 5_000n,
  xDAI: 1_000n,
}

/**
 * Returns the most that one transaction may cost in fees, in wei, on a network with this currency; one coin
 * if the currency is unknown.
 */
export function defaultTxFeeCap(symbol: string): bigint {
  return (FEE_CAPS[symbol] ?? 1n) * COIN
}
