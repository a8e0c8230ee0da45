import type { ContentReader } from '../capabilities.ts'
import type { SolanaDraft, SolanaRequest } from './content.ts'
import { solanaEffects } from './effects.ts'

/** Reads stored Solana content. */
export const SOLANA_CONTENT: ContentReader<SolanaRequest, SolanaDraft> = {
  // The network charges for the signatures and the requested units, also when the execution fails, so the fee is known when it is signed.
  // A transaction that a block contains without having executed it costs nothing (SIMD-0290).
  paidFee: ({ draft, result }) => result?.feeCharged ?? draft.fee,
  effects: solanaEffects,
}

/**
 * RPC methods that callers may use when the relayer's policy lists none: reads, prices and simulations. Methods that sign, send or
 * administer are missing, and so are methods that keep state on a node, because the next call may reach another node.
 */
export const READ_METHODS: readonly string[] = [
  'getAccountInfo',
  'getBalance',
  'getBlock',
  'getBlockCommitment',
  'getBlockHeight',
  'getBlockProduction',
  'getBlockTime',
  'getBlocks',
  'getBlocksWithLimit',
  'getClusterNodes',
  'getEpochInfo',
  'getEpochSchedule',
  'getFeeForMessage',
  'getFirstAvailableBlock',
  'getGenesisHash',
  'getHealth',
  'getHighestSnapshotSlot',
  'getIdentity',
  'getInflationGovernor',
  'getInflationRate',
  'getInflationReward',
  'getLargestAccounts',
  'getLatestBlockhash',
  'getLeaderSchedule',
  'getMaxRetransmitSlot',
  'getMaxShredInsertSlot',
  'getMinimumBalanceForRentExemption',
  'getMultipleAccounts',
  'getProgramAccounts',
  'getRecentPerformanceSamples',
  'getRecentPrioritizationFees',
  'getSignatureStatuses',
  'getSignaturesForAddress',
  'getSlot',
  'getSlotLeader',
  'getSlotLeaders',
  'getStakeMinimumDelegation',
  'getSupply',
  'getTokenAccountBalance',
  'getTokenAccountsByDelegate',
  'getTokenAccountsByOwner',
  'getTokenLargestAccounts',
  'getTokenSupply',
  'getTransaction',
  'getTransactionCount',
  'getVersion',
  'getVoteAccounts',
  'isBlockhashValid',
  'minimumLedgerSlot',
  'simulateTransaction',
]
