import type { CatalogueEntry } from './entry.ts'
import { ARBITRUM_BASED, EIP1559, LEGACY } from './evm-kinds.ts'
import { EVM_OP_STACK } from './evm-op-stack.ts'

const ARBITRUM: readonly CatalogueEntry[] = [
  {
    ...ARBITRUM_BASED,
    network: 'arbitrum-one',
    chain_id: 42_161,
    symbol: 'ETH',
    is_testnet: false,
    average_blocktime_ms: 250,
    required_confirmations: 1,
    explorer_urls: ['https://arbiscan.io'],
    rpc_urls: ['https://arb1.arbitrum.io/rpc', 'https://arbitrum-one-rpc.publicnode.com'],
  },
  {
    ...ARBITRUM_BASED,
    network: 'arbitrum-nova',
    chain_id: 42_170,
    symbol: 'ETH',
    is_testnet: false,
    average_blocktime_ms: 250,
    required_confirmations: 1,
    explorer_urls: ['https://nova.arbiscan.io'],
    rpc_urls: ['https://nova.arbitrum.io/rpc', 'https://arbitrum-nova-rpc.publicnode.com'],
  },
  {
    ...ARBITRUM_BASED,
    network: 'arbitrum-sepolia',
    chain_id: 421_614,
    symbol: 'ETH',
    is_testnet: true,
    average_blocktime_ms: 250,
    required_confirmations: 1,
    explorer_urls: ['https://sepolia.arbiscan.io'],
    rpc_urls: ['https://sepolia-rollup.arbitrum.io/rpc', 'https://arbitrum-sepolia-rpc.publicnode.com'],
  },
]

/** The sequencers of these rollups keep a pool in which a higher fee helps. Abstract has announced its end. */
const WITH_POOL: readonly CatalogueEntry[] = [
  {
    ...EIP1559,
    network: 'linea',
    chain_id: 59_144,
    symbol: 'ETH',
    is_testnet: false,
    average_blocktime_ms: 2_000,
    required_confirmations: 1,
    explorer_urls: ['https://lineascan.build'],
    rpc_urls: ['https://rpc.linea.build', 'https://linea-rpc.publicnode.com'],
  },
  {
    ...EIP1559,
    network: 'linea-sepolia',
    chain_id: 59_141,
    symbol: 'ETH',
    is_testnet: true,
    average_blocktime_ms: 2_000,
    required_confirmations: 1,
    explorer_urls: ['https://sepolia.lineascan.build'],
    rpc_urls: ['https://rpc.sepolia.linea.build', 'https://linea-sepolia-rpc.publicnode.com'],
  },
  {
    ...EIP1559,
    network: 'scroll',
    chain_id: 534_352,
    symbol: 'ETH',
    is_testnet: false,
    average_blocktime_ms: 3_000,
    required_confirmations: 1,
    explorer_urls: ['https://scrollscan.com'],
    rpc_urls: ['https://rpc.scroll.io', 'https://scroll-rpc.publicnode.com'],
  },
  {
    ...EIP1559,
    network: 'scroll-sepolia',
    chain_id: 534_351,
    symbol: 'ETH',
    is_testnet: true,
    average_blocktime_ms: 3_000,
    required_confirmations: 1,
    explorer_urls: ['https://sepolia.scrollscan.com'],
    rpc_urls: ['https://sepolia-rpc.scroll.io'],
  },
  {
    ...LEGACY,
    network: 'zk-sync',
    chain_id: 324,
    symbol: 'ETH',
    is_testnet: false,
    average_blocktime_ms: 1_000,
    required_confirmations: 1,
    explorer_urls: ['https://explorer.zksync.io'],
    rpc_urls: ['https://mainnet.era.zksync.io'],
  },
  {
    ...LEGACY,
    network: 'zk-sync-testnet',
    chain_id: 300,
    symbol: 'ETH',
    is_testnet: true,
    average_blocktime_ms: 1_000,
    required_confirmations: 1,
    explorer_urls: ['https://sepolia.explorer.zksync.io'],
    rpc_urls: ['https://sepolia.era.zksync.dev'],
  },
  {
    ...LEGACY,
    network: 'abstract',
    chain_id: 2_741,
    symbol: 'ETH',
    is_testnet: false,
    average_blocktime_ms: 1_000,
    required_confirmations: 1,
    explorer_urls: ['https://abscan.org'],
    rpc_urls: ['https://api.mainnet.abs.xyz'],
  },
  {
    ...LEGACY,
    network: 'abstract-sepolia',
    chain_id: 11_124,
    symbol: 'ETH',
    is_testnet: true,
    average_blocktime_ms: 1_000,
    required_confirmations: 1,
    explorer_urls: ['https://sepolia.abscan.org'],
    rpc_urls: ['https://api.testnet.abs.xyz'],
  },
]

/**
 * EVM chains with one sequencer. It drops an included transaction only when Ethereum itself is rolled back, so one block on top is
 * enough.
 */
export const EVM_ROLLUPS: readonly CatalogueEntry[] = [...ARBITRUM, ...EVM_OP_STACK, ...WITH_POOL]
