import { INVALID_REQUEST, RpcFault } from '../json-rpc/fault.ts'
import { type JsonRpcServer, startJsonRpcServer } from '../json-rpc/server.ts'
import type { Chain } from './chain/chain.ts'
import { createNode } from './node.ts'
import { writeJson } from './rpc/json.ts'
import { callMethod } from './rpc/methods.ts'

/** Lets nodes of this network answer, on a free port. */
export function startSolanaServer(chain: Chain): Promise<JsonRpcServer> {
  return startJsonRpcServer({
    words: { unreadable: 'Parse error', invalid: 'Invalid request', empty: 'Invalid request' },
    answer({ behind, method, params = [] }) {
      if (!Array.isArray(params)) throw new RpcFault(INVALID_REQUEST, 'Invalid request')
      return callMethod(createNode(chain, behind), method, params)
    },
    write: writeJson,
  })
}
