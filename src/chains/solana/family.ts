import { smaller } from '../../lib/bigint.ts'
import type { ChargedFee } from '../attempt.ts'
import type { ContentReader } from '../capabilities.ts'
import type { SolanaDraft, SolanaRequest } from './content.ts'
import { solanaEffects } from './effects/effects.ts'
import { exactFeeOf } from './prepare/fees.ts'
import { openTransaction } from './wire/message.ts'

/** Returns the fee of a draft where its bytes decide it; undefined where only the chain's statement does. */
function exactFeeIn({ transaction }: Pick<SolanaDraft, 'transaction'>): bigint | undefined {
  return exactFeeOf(openTransaction(transaction).message)
}

/** Reads stored Solana content. */
export const SOLANA_CONTENT: ContentReader<SolanaRequest, SolanaDraft> = {
  // The network charges for the signatures and the requested units that the bytes name, also when the
  // execution fails, and never more. So the bytes bound what a node tells, and stand in for a node that tells
  // nothing.
  paidFee: ({ draft, result }) => {
    const told = result?.feeCharged
    return (told === undefined ? exactFeeIn(draft) : smaller(told, draft.fee)) as ChargedFee | undefined
  },
  effects: solanaEffects,
}

/**
 * RPC methods that callers may use when the relayer's policy lists none: reads, prices and simulations.
 * Methods that sign, send or administer are missing, and so are methods that keep state on a node, because
 * the next call may reach another node.
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
