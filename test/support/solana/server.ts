import { INVALID_REQUEST, RpcFault } from '../json-rpc/fault.ts'
import { type JsonRpcServer, startJsonRpcServer } from '../json-rpc/server.ts'
import type { Chain } from './chain/chain.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { createNode } from './node.ts'
import { writeJson } from './rpc/json.ts'
import { callMethod } from './rpc/methods.ts'

/** Largest request (agave rpc.rs `MAX_REQUEST_BODY_SIZE`), in bytes. */
const MAX_BODY_BYTES = 50 * 1024

/** Lets nodes of this network answer, on a free port. `ledgers` are those of its further nodes, the first of them number 1. */
export function startSolanaServer(chain: Chain, ledgers: readonly Ledger[]): Promise<JsonRpcServer> {
  const own = createLedger()
  return startJsonRpcServer({
    maxBodyBytes: MAX_BODY_BYTES,
    messages: { unreadable: 'Parse error', invalid: 'Invalid request', empty: 'Invalid request' },
    answer({ behind, node, method, params = [] }) {
      if (!Array.isArray(params)) throw new RpcFault(INVALID_REQUEST, 'Invalid request')
      const ledger = node === 0 ? own : ledgers[node - 1]
      if (ledger === undefined) throw new Error(`there is no node ${node}`)
      return callMethod(createNode(chain, behind, ledger), method, params)
    },
    write: writeJson,
  })
}
