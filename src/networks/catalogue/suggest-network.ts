import { suggest } from '../../lib/suggest.ts'
import type { NetworkType } from '../network.ts'

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

/** Returns ` (did you mean "x"?)` for a network by another name or with typing errors, and otherwise all names that would do. */
export function suggestNetwork({ name, type, known }: UnknownNetwork): string {
  const names = OTHER_NAMES[type]
  const lower = name.toLowerCase()
  const meant = Object.hasOwn(names, lower) ? names[lower] : undefined
  if (meant !== undefined && known.includes(meant)) return ` (did you mean "${meant}"?)`
  return suggest(name, known) || `; known are ${known.join(', ')}`
}
