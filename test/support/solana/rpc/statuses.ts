import { invalidParams } from '../../json-rpc/fault.ts'
import type { Node } from '../node.ts'
import type { TransactionError } from '../runtime/errors.ts'
import { configParam, listParam, type Params, signatureParam, withContext } from './params.ts'

/** Most signatures of one call (agave rpc-client-api `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`). */
const MAX_SIGNATURES = 256

/** How each transaction stands; null for one that the node does not know. */
export function getSignatureStatuses(node: Node, [list, config]: Params): unknown {
  const signatures = listParam(list, signatureParam)
  if (signatures.length > MAX_SIGNATURES)
    throw invalidParams(`Too many inputs provided; max ${MAX_SIGNATURES}`)
  const searches = configParam(config).searchTransactionHistory === true
  const value = signatures.map((signature) => statusOf(node, signature, searches))
  return withContext(node, 'processed', value)
}

/** What the newest blocks hold; with a search also what else the node still has (agave rpc.rs). */
function statusOf(node: Node, signature: string, searches: boolean): unknown {
  const found = node.find(signature)
  if (found === undefined) return null
  const { applied, place } = found
  const newest = node.place('processed')
  const isRecent = newest - place < node.chain.rules.recentBlocks
  if (!isRecent && !(searches && node.remembers(applied.slot))) return null
  const isFinal = place <= node.place('finalized')
  const isConfirmed = place <= node.place('confirmed')
  return {
    slot: applied.slot,
    confirmations: isFinal ? null : newest - place,
    err: applied.err,
    status: resultOf(applied.err),
    confirmationStatus: isFinal ? 'finalized' : isConfirmed ? 'confirmed' : 'processed',
  }
}

/** How a result is written in Rust's way. */
export function resultOf(err: TransactionError | null): unknown {
  return err === null ? { Ok: null } : { Err: err }
}
