import type { Receipt } from '../../answer.ts'
import type { EndpointReply, RpcCall } from '../../rpc/rpc.ts'
import { lacksHistory } from '../inclusion/ledger.ts'
import { blockHashOf } from './head.ts'
import { contextualOf, fieldsOf, readInteger } from './replies.ts'
import { readFailure } from './transaction-error.ts'

/** The highest number of signatures of one question (agave `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`). */
const MAX_SIGNATURES = 256

/**
 * The answer of one endpoint about a signature. `none`: the endpoint does not know it · `inconclusive`: it does not know it, and is behind
 * · `no_history`: it was started without transaction history and refuses to look (agave `rpc/src/rpc.rs` `get_signature_statuses`).
 */
export type SignatureStatus =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'none'; readonly slot: bigint }
  | { readonly kind: 'inconclusive' }
  | { readonly kind: 'no_history' }
  | { readonly kind: 'unknown' }

/** Returns the calls for these signatures: in the whole history of a node, or only in its newest 300 rooted blocks. */
export function statusCalls(
  signatures: readonly string[],
  { searchTransactionHistory = true } = {},
): RpcCall[] {
  return Array.from({ length: Math.ceil(signatures.length / MAX_SIGNATURES) }, (_, index) => ({
    method: 'getSignatureStatuses',
    params: [
      signatures.slice(index * MAX_SIGNATURES, (index + 1) * MAX_SIGNATURES),
      { searchTransactionHistory },
    ],
  }))
}

/** Returns the reply that contains the status of the signature at this index. */
export function statusReply(
  replies: readonly (EndpointReply | undefined)[],
  index: number,
): EndpointReply | undefined {
  return replies[Math.floor(index / MAX_SIGNATURES)]
}

/** Reads the status of the signature at this index. */
export function readStatus(
  signature: string,
  endpointReply: EndpointReply | undefined,
  index: number,
): SignatureStatus {
  if (lacksHistory(endpointReply)) return { kind: 'no_history' }
  const answer = contextualOf(endpointReply?.reply)
  if (answer.kind !== 'ok') return { kind: 'unknown' }
  const { slot, value } = answer.value
  const status: unknown = Array.isArray(value) ? value[index % MAX_SIGNATURES] : undefined
  if (status === null)
    return endpointReply?.behind === false ? { kind: 'none', slot } : { kind: 'inconclusive' }
  const receipt = toReceipt(signature, fieldsOf(status))
  return receipt === undefined ? { kind: 'unknown' } : { kind: 'included', receipt }
}

function toReceipt(hash: string, status: Readonly<Record<string, unknown>>): Receipt | undefined {
  const number = readInteger(status.slot)
  if (number === undefined || status.err === undefined) return undefined
  const receipt = {
    hash,
    blockNumber: number,
    blockHash: blockHashOf(number),
    success: status.err === null,
    final: isFinalized(status),
  }
  return receipt.success ? receipt : { ...receipt, failure: readFailure(status.err).description }
}

/** Nodes that do not report the commitment leave out `confirmations` when a transaction is finalized. */
function isFinalized({ confirmationStatus, confirmations }: Readonly<Record<string, unknown>>): boolean {
  return typeof confirmationStatus === 'string' ? confirmationStatus === 'finalized' : confirmations === null
}
