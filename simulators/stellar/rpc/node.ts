import { INTERNAL_ERROR, RpcFault } from '../../json-rpc.ts'
import type { ClosedLedger } from '../chain.ts'
import type { Ledger } from '../ledger.ts'
import type { View } from '../state/state.ts'

/**
 * The fault of the RPC server. It reports most faults as an error of JSON-RPC in HTTP 200, and faults of its simulations in the same field
 * as the failure of a contract. `none` · `core_gone`, `core_exception`: the stellar-core behind it does not answer, or answers with an
 * exception · `filtered`: its stellar-core accepts nothing of this sort (status FILTERED of `TransactionQueue::canAdd`) · `too_slow`,
 * `panicking`: it times out, or crashes, over a request · `preflight_full`, `preflight_closed`: its simulations wait in a full queue, or
 * are being shut down.
 */
export type NodeFault =
  | 'none'
  | 'core_gone'
  | 'core_exception'
  | 'filtered'
  | 'too_slow'
  | 'panicking'
  | 'preflight_full'
  | 'preflight_closed'

/** stellar-rpc internal/network/requestdurationlimiter.go. */
const TOO_SLOW = new RpcFault(-32001, 'request exceeded processing limit threshold')
const PANICKED = new RpcFault(-32003, 'request failed to process due to internal issue')

/** Methods for which stellar-rpc asks its stellar-core; the others read its own database. */
const OF_CORE: Readonly<Record<string, string>> = {
  // internal/methods/send_transaction.go
  sendTransaction: 'could not submit transaction to stellar-core',
  // internal/ledgerentries/main.go
  getLedgerEntries:
    'could not query captive core: http request failed: Post "http://localhost:11627/getledgerentry": dial tcp 127.0.0.1:11627: connect: connection refused',
}

/** Throws the server's answer to this method during the fault; nothing where it can answer. */
export function failOnFault(nodeFault: NodeFault, method: string): void {
  if (nodeFault === 'too_slow') throw TOO_SLOW
  if (nodeFault === 'panicking') throw PANICKED
  const message = OF_CORE[method]
  if (nodeFault === 'core_gone' && message !== undefined) throw new RpcFault(INTERNAL_ERROR, message)
  if (nodeFault === 'core_exception' && method === 'sendTransaction')
    throw new RpcFault(INTERNAL_ERROR, 'received exception from stellar-core')
  // stellar-rpc does not know the status and reports nothing else.
  if (nodeFault === 'filtered' && method === 'sendTransaction')
    throw new RpcFault(INTERNAL_ERROR, 'invalid status from stellar-core')
}

/** Returns the `error` of a simulation during the fault (internal/preflight/pool.go); undefined if it can simulate. */
export function preflightFault(nodeFault: NodeFault): string | undefined {
  if (nodeFault === 'preflight_full') return 'preflight queue full'
  if (nodeFault === 'preflight_closed') return 'preflight worker pool is closed'
  return nodeFault === 'core_gone' ? OF_CORE.getLedgerEntries : undefined
}

/** An RPC server: the whole network, seen from as many ledgers ago as this server is behind. */
export interface Node {
  readonly ledger: Ledger
  /** The fault of this server. */
  readonly nodeFault: NodeFault
  /** The newest ledger it knows. */
  latest(): ClosedLedger
  /** The oldest it still remembers. */
  oldest(): ClosedLedger
  /** All entries as they were with `latest`. */
  view(): View
  /**
   * The newest ledger in which it looks for a transaction. stellar-rpc looks first and reads `latest` then (get_transaction.go), so a
   * ledger that closes in between is told of and was not looked at.
   */
  searched(): number
}

/** Creates an RPC server that is `behind` ledgers late, with a fault of its own or that of all servers. */
export function createNode(ledger: Ledger, behind: number, nodeFault = ledger.nodeFault): Node {
  const { chain, history, network } = ledger
  const latest = () => chain.near(chain.latest().sequence - behind)
  return {
    ledger,
    nodeFault,
    latest,
    oldest: () => chain.near(latest().sequence - network.retentionLedgers + 1),
    view: () => history.at(latest().sequence),
    searched: () => latest().sequence - ledger.takeTornRead(),
  }
}
