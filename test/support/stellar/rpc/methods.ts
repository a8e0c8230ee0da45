import { METHOD_NOT_FOUND, RpcFault } from '../../json-rpc/fault.ts'
import { getHealth, getNetwork, getVersionInfo } from './about.ts'
import { getFeeStats } from './fee-stats.ts'
import { getLatestLedger, getLedgerEntries, getLedgers } from './ledgers.ts'
import type { Node } from './node.ts'
import { failOnFault } from './node-fault.ts'
import type { Params } from './params.ts'
import { simulateTransaction } from './simulate.ts'
import { getTransaction, getTransactions, sendTransaction } from './transactions.ts'

type Method = (node: Node, params: Params) => unknown

/** The methods of stellar-rpc that this ledger speaks. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['getHealth', getHealth],
  ['getNetwork', getNetwork],
  ['getVersionInfo', getVersionInfo],
  ['getLatestLedger', getLatestLedger],
  ['getLedgers', getLedgers],
  ['getLedgerEntries', getLedgerEntries],
  ['getTransaction', getTransaction],
  ['getTransactions', getTransactions],
  ['sendTransaction', sendTransaction],
  ['getFeeStats', getFeeStats],
  ['simulateTransaction', simulateTransaction],
])

/** Answers one call. Throws an {@link RpcFault} when it cannot. */
export function callMethod(node: Node, name: string, params: Params): unknown {
  const method = METHODS.get(name)
  if (!method) throw new RpcFault(METHOD_NOT_FOUND, 'method not found')
  failOnFault(node.nodeFault, name)
  return method(node, params)
}
