import { larger } from '../../lib/bigint.ts'
import type { ContentReader } from '../capabilities.ts'
import type { EvmDraft, EvmRequest } from './content.ts'
import { evmEffects } from './effects/effects.ts'

/** Reads stored EVM content. */
export const EVM_CONTENT: ContentReader<EvmRequest, EvmDraft> = {
  paidFee: ({ result }) => result?.feeCharged,
  effects: evmEffects,
  named: ({ speed, gasPrice, maxFeePerGas, gasLimit }) => ({
    speed,
    price: gasPrice !== undefined || maxFeePerGas !== undefined,
    gasLimit: gasLimit !== undefined,
  }),
  receiver: ({ to }) => to,
  pricedLast: (draft, attempts) => {
    const blocks = attempts.flatMap((attempt) => attempt.draft.preparedAtBlock ?? [])
    return blocks.length === 0 ? draft : { ...draft, preparedAtBlock: blocks.reduce(larger) }
  },
}

/**
 * RPC methods that callers may use when the relayer's policy lists none: reads, prices and simulations.
 * Methods that sign, send or administer are missing, and so are methods that keep state on a node, because
 * the next call may reach another node.
 */
export const READ_METHODS: readonly string[] = [
  'eth_blobBaseFee',
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getProof',
  'eth_getStorageAt',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_getUncleByBlockHashAndIndex',
  'eth_getUncleByBlockNumberAndIndex',
  'eth_getUncleCountByBlockHash',
  'eth_getUncleCountByBlockNumber',
  'eth_maxPriorityFeePerGas',
  'eth_protocolVersion',
  'eth_simulateV1',
  'eth_syncing',
  'net_listening',
  'net_peerCount',
  'net_version',
  'web3_clientVersion',
  'web3_sha3',
]
