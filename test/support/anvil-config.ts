/** The configuration of the network `anvil`, with any further or other fields of it. */
export function anvilNetwork(rpcUrls: readonly string[], changes: object = {}) {
  return {
    type: 'evm',
    network: 'anvil',
    chain_id: 31337,
    symbol: 'ETH',
    is_testnet: true,
    features: ['eip1559'],
    average_blocktime_ms: 200,
    required_confirmations: 1,
    rpc_urls: rpcUrls,
    ...changes,
  }
}

/** The fields of a relayer on it, besides its names. */
export const ON_ANVIL = { network: 'anvil', network_type: 'evm', paused: false } as const
