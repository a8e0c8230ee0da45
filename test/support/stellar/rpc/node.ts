import type { ClosedLedger } from '../chain.ts'
import type { Ledger } from '../ledger.ts'
import type { View } from '../state.ts'
import type { NodeFault } from './node-fault.ts'

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
