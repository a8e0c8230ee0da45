/** The fields that entries of one kind have in common. */

/** Blocks have a base fee, and nodes a public pool. */
export const EIP1559 = { type: 'evm', features: ['eip1559'], tags: [] } as const

/** Blocks have no base fee, or wallets pay a single gas price by custom. */
export const LEGACY = { type: 'evm', features: [], tags: [] } as const

/** A Nitro sequencer includes transactions in the order of arrival. */
export const ARBITRUM_BASED = {
  type: 'evm',
  features: ['eip1559'],
  tags: ['arbitrum-based', 'no-mempool'],
} as const

/** The most gas that one transaction may ask for since the fork Osaka (EIP-7825): 2^24. */
export const OSAKA_MAX_GAS = 16_777_216

/** A sequencer of the OP stack has a private pool, and takes the highest tips first (op-geth `miner/worker.go`). */
export const OPTIMISM_BASED = { type: 'evm', features: ['eip1559'], tags: ['optimism-based'] } as const
