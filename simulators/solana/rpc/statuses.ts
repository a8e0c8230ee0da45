import { invalidParams, RpcFault } from '../../json-rpc.ts'
import type { Node } from '../node.ts'
import type { TransactionError } from '../runtime/errors.ts'
import {
  configParam,
  listParam,
  type Params,
  signatureParam,
  TRANSACTION_HISTORY_NOT_AVAILABLE,
  withContext,
} from './params.ts'

/** Most signatures of one call (agave rpc-client-api `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`). */
const MAX_SIGNATURES = 256

/** Returns the status of each transaction; null for one that the node does not know. */
export function getSignatureStatuses(node: Node, [list, config]: Params): unknown {
  const signatures = listParam(list, signatureParam)
  if (signatures.length > MAX_SIGNATURES)
    throw invalidParams(`Too many inputs provided; max ${MAX_SIGNATURES}`)
  const searches = configParam(config).searchTransactionHistory === true
  if (searches && !node.keepsHistory) throw noHistory()
  const value = signatures.map((signature) => statusOf(node, signature, searches))
  return withContext(node, 'processed', value)
}

/** Returns the error of a node without history (agave `--enable-rpc-transaction-history`). */
export function noHistory(): RpcFault {
  return new RpcFault(
    TRANSACTION_HISTORY_NOT_AVAILABLE,
    'Transaction history is not available from this node',
  )
}

/**
 * Looks into the newest blocks, whose signatures most snapshots bring with them; with a search also into the rest of the node's data. It does not report a
 * failure of its long-term storage (agave rpc.rs `get_signature_statuses`).
 */
function statusOf(node: Node, signature: string, searches: boolean): unknown {
  const found = node.find(signature)
  if (found === undefined) return null
  const { applied, index } = found
  const newest = node.index('processed')
  const block = node.chain.blocks.near(index)
  if (!node.remembers(block) && !(searches && node.tellsOf(block, 'signatures'))) return null
  const isFinal = index <= node.index('finalized')
  const isConfirmed = index <= node.index('confirmed')
  return {
    slot: applied.slot,
    confirmations: isFinal ? null : newest - index,
    err: applied.err,
    status: resultOf(applied.err),
    confirmationStatus: isFinal ? 'finalized' : isConfirmed ? 'confirmed' : 'processed',
  }
}

/** Writes a result in Rust's notation. */
export function resultOf(err: TransactionError | null): unknown {
  return err === null ? { Ok: null } : { Err: err }
}
