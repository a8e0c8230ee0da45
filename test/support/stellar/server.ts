import { invalidParams } from '../json-rpc/fault.ts'
import { type JsonRpcServer, startJsonRpcServer } from '../json-rpc/server.ts'
import type { Ledger } from './ledger.ts'
import { callMethod } from './rpc/methods.ts'
import { createNode } from './rpc/node.ts'
import type { NodeFault } from './rpc/node-fault.ts'
import type { Params } from './rpc/params.ts'

/** Starts RPC servers of this network on a free port, with a fault of their own or with that of all servers. */
export function startLedgerServer(ledger: Ledger, nodeFault?: NodeFault): Promise<JsonRpcServer> {
  return startJsonRpcServer({
    messages: { unreadable: 'invalid request', invalid: 'invalid request', empty: 'empty request batch' },
    answer({ behind, method, params }) {
      // Clients say that there are none by leaving them out, or by null.
      const named = params ?? {}
      if (typeof named !== 'object' || Array.isArray(named)) throw invalidParams('invalid parameters')
      return callMethod(createNode(ledger, behind, nodeFault), method, named as Params)
    },
    write: JSON.stringify,
  })
}
