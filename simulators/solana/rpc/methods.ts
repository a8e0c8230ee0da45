import { METHOD_NOT_FOUND, RpcFault } from '../../json-rpc.ts'
import type { Node } from '../node.ts'
import {
  getAccountInfo,
  getBalance,
  getMinimumBalanceForRentExemption,
  getMultipleAccounts,
  getTokenAccountsByOwner,
} from './accounts.ts'
import { getSignaturesForAddress } from './address-history.ts'
import { getBlock, getBlocks, getTransaction } from './blocks.ts'
import {
  getBlockHeight,
  getEpochInfo,
  getFirstAvailableBlock,
  getGenesisHash,
  getHealth,
  getLatestBlockhash,
  getSlot,
  getVersion,
  isBlockhashValid,
  minimumLedgerSlot,
} from './cluster.ts'
import { getFeeForMessage, getRecentPrioritizationFees } from './fees.ts'
import type { Params } from './params.ts'
import { sendTransaction } from './send.ts'
import { simulateTransaction } from './simulate.ts'
import { getSignatureStatuses } from './statuses.ts'

type Method = (node: Node, params: Params) => unknown

/** The methods of the validator's RPC that this node speaks. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['getHealth', getHealth],
  ['getVersion', getVersion],
  ['getGenesisHash', getGenesisHash],
  ['getSlot', getSlot],
  ['getBlockHeight', getBlockHeight],
  ['getEpochInfo', getEpochInfo],
  ['getFirstAvailableBlock', getFirstAvailableBlock],
  ['minimumLedgerSlot', minimumLedgerSlot],
  ['getLatestBlockhash', getLatestBlockhash],
  ['isBlockhashValid', isBlockhashValid],
  ['getBalance', getBalance],
  ['getAccountInfo', getAccountInfo],
  ['getMultipleAccounts', getMultipleAccounts],
  ['getMinimumBalanceForRentExemption', getMinimumBalanceForRentExemption],
  ['getFeeForMessage', getFeeForMessage],
  ['getRecentPrioritizationFees', getRecentPrioritizationFees],
  ['getTokenAccountsByOwner', getTokenAccountsByOwner],
  ['simulateTransaction', simulateTransaction],
  ['sendTransaction', sendTransaction],
  ['getSignatureStatuses', getSignatureStatuses],
  ['getSignaturesForAddress', getSignaturesForAddress],
  ['getTransaction', getTransaction],
  ['getBlock', getBlock],
  ['getBlocks', getBlocks],
])

/** Answers one call. Throws an {@link RpcFault} when it cannot. */
export function callMethod(node: Node, name: string, params: Params): unknown {
  const method = METHODS.get(name)
  if (!method) throw new RpcFault(METHOD_NOT_FOUND, 'Method not found')
  return method(node, params)
}
