import type { CatalogueEntry } from './entry.ts'
import { EIP1559, LEGACY, OSAKA_MAX_GAS } from './evm-kinds.ts'

/**
 * Ethereum's own. OpenZeppelin Relayer waits for twelve blocks on mainnet, and for six on the test networks. Holesky is gone: it was shut
 * down after Fusaka, in 2025. Sepolia has had no cap for a transaction since Glamsterdam, of 2026-10-06 (EIP-8037; go-ethereum
 * `core/txpool/validation.go`); Hoodi and mainnet follow.
 */
const ETHEREUM: readonly CatalogueEntry[] = [
  {
    ...EIP1559,
    network: 'mainnet',
    chain_id: 1,
    symbol: 'ETH',
    is_testnet: false,
    average_blocktime_ms: 12_000,
    required_confirmations: 12,
    max_gas_per_transaction: OSAKA_MAX_GAS,
    explorer_urls: ['https://etherscan.io'],
    rpc_urls: ['https://ethereum-rpc.publicnode.com', 'https://eth.drpc.org'],
  },
  {
    ...EIP1559,
    network: 'sepolia',
    chain_id: 11_155_111,
    symbol: 'ETH',
    is_testnet: true,
    average_blocktime_ms: 12_000,
    required_confirmations: 6,
    explorer_urls: ['https://sepolia.etherscan.io'],
    rpc_urls: ['https://ethereum-sepolia-rpc.publicnode.com', 'https://sepolia.drpc.org'],
  },
  {
    ...EIP1559,
    network: 'hoodi',
    chain_id: 560_048,
    symbol: 'ETH',
    is_testnet: true,
    average_blocktime_ms: 12_000,
    required_confirmations: 6,
    max_gas_per_transaction: OSAKA_MAX_GAS,
    explorer_urls: ['https://hoodi.etherscan.io'],
    rpc_urls: ['https://rpc.hoodi.ethpandaops.io', 'https://ethereum-hoodi-rpc.publicnode.com'],
  },
]

/**
 * Polygon's own number for EIP-7825, 2^25 gas, since the fork Madhugiri of 2025-12-09 (release notes of bor 2.5.0).
 */
const MADHUGIRI_MAX_GAS = 33_554_432

/**
 * BSC makes a block each 0.45 s since Fermi of 2026-01-14 (BEP-619), and caps transactions since Osaka of 2026-04-28 (bsc `params/config.go`).
 * Avalanche lets its validators set the time between blocks (ACP-226), which is about a second.
 *
 * The confirmations are half a minute or more of blocks on Polygon, which reorganised blocks before its milestones; fifteen on BSC, as
 * its documentation says; and Ethereum's on Gnosis. Avalanche, Sonic, Berachain and Sei never reorganise accepted blocks.
 */
const OTHERS: readonly CatalogueEntry[] = [
  {
    ...EIP1559,
    network: 'polygon',
    chain_id: 137,
    symbol: 'POL',
    is_testnet: false,
    average_blocktime_ms: 2_000,
    required_confirmations: 16,
    max_gas_per_transaction: MADHUGIRI_MAX_GAS,
    explorer_urls: ['https://polygonscan.com'],
    rpc_urls: ['https://polygon-bor-rpc.publicnode.com', 'https://polygon.drpc.org'],
  },
  {
    ...EIP1559,
    network: 'polygon-amoy',
    chain_id: 80_002,
    symbol: 'POL',
    is_testnet: true,
    average_blocktime_ms: 2_000,
    required_confirmations: 6,
    max_gas_per_transaction: MADHUGIRI_MAX_GAS,
    explorer_urls: ['https://amoy.polygonscan.com'],
    rpc_urls: ['https://rpc-amoy.polygon.technology', 'https://polygon-amoy-bor-rpc.publicnode.com'],
  },
  {
    ...LEGACY,
    network: 'binance-smart-chain',
    chain_id: 56,
    symbol: 'BNB',
    is_testnet: false,
    average_blocktime_ms: 450,
    required_confirmations: 15,
    max_gas_per_transaction: OSAKA_MAX_GAS,
    explorer_urls: ['https://bscscan.com'],
    rpc_urls: ['https://bsc-dataseed.bnbchain.org', 'https://bsc-rpc.publicnode.com'],
  },
  {
    ...LEGACY,
    network: 'binance-smart-chain-testnet',
    chain_id: 97,
    symbol: 'BNB',
    is_testnet: true,
    average_blocktime_ms: 450,
    required_confirmations: 6,
    max_gas_per_transaction: OSAKA_MAX_GAS,
    explorer_urls: ['https://testnet.bscscan.com'],
    rpc_urls: ['https://bsc-testnet-dataseed.bnbchain.org', 'https://bsc-testnet-rpc.publicnode.com'],
  },
  {
    ...EIP1559,
    network: 'gnosis',
    chain_id: 100,
    symbol: 'xDAI',
    is_testnet: false,
    average_blocktime_ms: 5_000,
    required_confirmations: 12,
    explorer_urls: ['https://gnosisscan.io'],
    rpc_urls: ['https://rpc.gnosischain.com', 'https://gnosis-rpc.publicnode.com'],
  },
  {
    ...EIP1559,
    network: 'gnosis-chiado',
    chain_id: 10_200,
    symbol: 'xDAI',
    is_testnet: true,
    average_blocktime_ms: 5_000,
    required_confirmations: 6,
    explorer_urls: ['https://blockscout.chiadochain.net'],
    rpc_urls: ['https://rpc.chiadochain.net'],
  },
  {
    ...EIP1559,
    network: 'avalanche',
    tags: ['blocks-on-demand'],
    chain_id: 43_114,
    symbol: 'AVAX',
    is_testnet: false,
    average_blocktime_ms: 1_000,
    required_confirmations: 1,
    explorer_urls: ['https://snowtrace.io'],
    rpc_urls: ['https://api.avax.network/ext/bc/C/rpc', 'https://avalanche-c-chain-rpc.publicnode.com'],
  },
  {
    ...EIP1559,
    network: 'avalanche-fuji',
    tags: ['blocks-on-demand'],
    chain_id: 43_113,
    symbol: 'AVAX',
    is_testnet: true,
    average_blocktime_ms: 1_000,
    required_confirmations: 1,
    explorer_urls: ['https://testnet.snowtrace.io'],
    rpc_urls: [
      'https://api.avax-test.network/ext/bc/C/rpc',
      'https://avalanche-fuji-c-chain-rpc.publicnode.com',
    ],
  },
  {
    ...EIP1559,
    network: 'moonbeam',
    chain_id: 1_284,
    symbol: 'GLMR',
    is_testnet: false,
    average_blocktime_ms: 6_000,
    required_confirmations: 6,
    explorer_urls: ['https://moonscan.io'],
    rpc_urls: ['https://rpc.api.moonbeam.network'],
  },
  {
    ...EIP1559,
    network: 'moonriver',
    chain_id: 1_285,
    symbol: 'MOVR',
    is_testnet: false,
    average_blocktime_ms: 6_000,
    required_confirmations: 6,
    explorer_urls: ['https://moonriver.moonscan.io'],
    rpc_urls: ['https://rpc.api.moonriver.moonbeam.network'],
  },
  {
    ...EIP1559,
    network: 'moonbase',
    chain_id: 1_287,
    symbol: 'DEV',
    is_testnet: true,
    average_blocktime_ms: 6_000,
    required_confirmations: 6,
    explorer_urls: ['https://moonbase.moonscan.io'],
    rpc_urls: ['https://rpc.api.moonbase.moonbeam.network'],
  },
  {
    ...EIP1559,
    network: 'sonic',
    tags: ['blocks-on-demand'],
    chain_id: 146,
    symbol: 'S',
    is_testnet: false,
    average_blocktime_ms: 700,
    required_confirmations: 1,
    explorer_urls: ['https://sonicscan.org'],
    rpc_urls: ['https://rpc.soniclabs.com'],
  },
  {
    ...EIP1559,
    network: 'berachain',
    chain_id: 80_094,
    symbol: 'BERA',
    is_testnet: false,
    average_blocktime_ms: 2_000,
    required_confirmations: 1,
    explorer_urls: ['https://berascan.com'],
    rpc_urls: ['https://rpc.berachain.com'],
  },
  {
    ...EIP1559,
    network: 'sei-mainnet',
    chain_id: 1_329,
    symbol: 'SEI',
    is_testnet: false,
    average_blocktime_ms: 400,
    required_confirmations: 1,
    explorer_urls: ['https://seiscan.io'],
    rpc_urls: ['https://evm-rpc.sei-apis.com'],
  },
  {
    ...EIP1559,
    network: 'sei-atlantic-2',
    chain_id: 1_328,
    symbol: 'SEI',
    is_testnet: true,
    average_blocktime_ms: 400,
    required_confirmations: 1,
    explorer_urls: ['https://testnet.seiscan.io'],
    rpc_urls: ['https://evm-rpc-testnet.sei-apis.com'],
  },
]

/** EVM chains with their own consensus. */
export const EVM_LAYER_1: readonly CatalogueEntry[] = [...ETHEREUM, ...OTHERS]
