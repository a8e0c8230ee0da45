import { address, oneOf, type Reader, text, u128, whole } from '../../lib/fields.ts'
import { EVM_LAYER_1 } from '../catalogue/evm-layer-1.ts'
import { EVM_ROLLUPS } from '../catalogue/evm-rollups.ts'
import { DEFAULT_BLOCKTIME_MS, defaultConfirmations, type EvmNetwork } from '../network.ts'
import { readPrivateRpcUrls } from '../read-urls.ts'
import { BLOCKTIME, type NetworkFamily, type SharedFields } from './family.ts'

const MAX_CONFIRMATIONS = 10_000

/** Tags, as existing network files have them, of networks that use the OP stack. */
const OPTIMISM_BASED = ['optimism-based', 'optimism_based', 'optimism']

/** Tags of networks whose sequencer keeps no public pool. */
const WITHOUT_MEMPOOL = ['no-mempool', 'arbitrum-based', 'arbitrum_based', ...OPTIMISM_BASED]

/** The gas of a plain transfer: a network with a lower limit could carry nothing. */
const MIN_GAS_LIMIT = 21_000

/** EVM networks. */
export const EVM_NETWORKS: NetworkFamily<'evm'> = {
  // The names are those of OpenZeppelin Relayer's files, so that a relayer that refers to one keeps its
  // network. The numbers are from the chains' own documentation, and from viem's definitions, which a test
  // compares.
  catalogue: [...EVM_LAYER_1, ...EVM_ROLLUPS],
  otherNames: {
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
  prefix: '',
  // In lower case, whose checksum was checked before.
  token: { ...address, read: (value) => address.read(value)?.toLowerCase() },
  native: ({ symbol }) => ({ symbol, decimals: 18 }),
  read: readEvm,
}

function readEvm(reader: Reader, shared: SharedFields, problems: string[]): EvmNetwork {
  reader.ignore('gas_price_cache')
  const maxGas = reader.find('max_gas_per_transaction', whole(MIN_GAS_LIMIT))
  const minPriorityFee = reader.find('min_priority_fee', u128)
  const symbol = reader.get('symbol', text)
  const privateRpcUrls = readPrivateRpcUrls(reader, 'private_rpc_urls', problems)
  const hasTag = (tags: readonly string[]) => shared.tags?.some((tag) => tags.includes(tag)) === true
  return {
    ...shared,
    ...(maxGas === undefined ? {} : { maxGasPerTransaction: BigInt(maxGas) }),
    ...(minPriorityFee === undefined ? {} : { minPriorityFee }),
    ...(privateRpcUrls.length > 0 && { privateRpcUrls }),
    type: 'evm',
    chainId: reader.get('chain_id', whole(1)),
    symbol,
    txFeeCap: reader.find('tx_fee_cap', u128) ?? defaultTxFeeCap(symbol),
    features: reader.list('features', oneOf('eip1559')),
    finality: reader.find('finality', oneOf('depth', 'safe', 'finalized')) ?? 'depth',
    mempool: !hasTag(WITHOUT_MEMPOOL),
    ...(hasTag(OPTIMISM_BASED) && { opStack: true as const }),
    averageBlocktimeMs: reader.find('average_blocktime_ms', BLOCKTIME) ?? DEFAULT_BLOCKTIME_MS,
    requiredConfirmations:
      reader.find('required_confirmations', whole(0, MAX_CONFIRMATIONS)) ??
      defaultConfirmations(shared.isTestnet),
  }
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
