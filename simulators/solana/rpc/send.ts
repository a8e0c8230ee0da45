import { RpcFault } from '../../json-rpc.ts'
import { submit } from '../chain/produce.ts'
import type { Node } from '../node.ts'
import { isSigned } from '../runtime/sanitize.ts'
import { getHealth } from './cluster.ts'
import {
  configParam,
  contextParam,
  numberParam,
  type Params,
  PREFLIGHT_FAILURE,
  stringParam,
} from './params.ts'
import { simulate, writeSimulation } from './simulation.ts'
import { describeError, encodingParam, refuseUnusable, transactionParam } from './wire.ts'

/**
 * Accepts a transaction and returns its signature. That only means that it was forwarded: unless `skipPreflight`, the node has to be
 * healthy, and it checks signatures and simulates first, at `preflightCommitment` (agave rpc.rs `send_transaction`).
 */
export function sendTransaction(node: Node, [text, options]: Params): unknown {
  const config = configParam(options)
  const transaction = transactionParam(stringParam(text), encodingParam(config.encoding))
  const { preflightCommitment, minContextSlot } = config
  const commitment = contextParam(node, { commitment: preflightCommitment, minContextSlot })
  refuseUnusable(node, transaction, commitment)
  if (config.skipPreflight !== true) {
    getHealth(node)
    const simulation = isSigned(transaction)
      ? simulate(node, transaction, commitment, true)
      : { err: 'SignatureFailure', execution: undefined }
    if (simulation.err !== null) {
      const message = `Transaction simulation failed: ${describeError(simulation.err)}`
      throw new RpcFault(PREFLIGHT_FAILURE, message, writeSimulation(simulation))
    }
  }
  submit(node.chain, transaction, numberParam(config.maxRetries) !== 0)
  return transaction.signature
}
