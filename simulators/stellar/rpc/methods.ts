import { METHOD_NOT_FOUND, RpcFault } from '../../json-rpc.ts'
import { getEvents } from './events.ts'
import { getFeeStats } from './fee-stats.ts'
import { getLatestLedger, getLedgerEntries, getLedgers } from './ledgers.ts'
import { failOnFault, type Node } from './node.ts'
import type { Params } from './params.ts'
import { simulateTransaction } from './simulate.ts'
import { getTransaction, getTransactions, sendTransaction } from './transactions.ts'

/** stellar-rpc methods/get_health.go. */
function getHealth(node: Node): unknown {
  return {
    status: 'healthy',
    latestLedger: node.latest().sequence,
    oldestLedger: node.oldest().sequence,
    ledgerRetentionWindow: node.ledger.network.retentionLedgers,
  }
}

/** stellar-rpc methods/get_network.go. */
function getNetwork({ ledger: { network } }: Node): unknown {
  return { passphrase: network.passphrase, protocolVersion: network.protocolVersion }
}

/** stellar-rpc methods/get_version_info.go. */
function getVersionInfo({ ledger: { network } }: Node): unknown {
  return {
    version: '25.0.0',
    commitHash: '',
    buildTimestamp: '',
    captiveCoreVersion: 'ledger for tests',
    protocolVersion: network.protocolVersion,
  }
}

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
  ['getEvents', getEvents],
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
