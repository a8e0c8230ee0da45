/** The fields that entries of one kind have in common. */

/** Blocks have a base fee, and nodes a public pool. */
export const EIP1559 = { type: 'evm', features: ['eip1559'], tags: [] } as const

/** One gas price is the custom, or the only thing that is understood. */
export const LEGACY = { type: 'evm', features: [], tags: [] } as const

/** A Nitro sequencer: first come, first served. */
export const ARBITRUM_BASED = {
  type: 'evm',
  features: ['eip1559'],
  tags: ['arbitrum-based', 'no-mempool'],
} as const

/** A sequencer of the OP stack, whose pool nobody sees. */
export const OPTIMISM_BASED = { type: 'evm', features: ['eip1559'], tags: ['optimism-based'] } as const
