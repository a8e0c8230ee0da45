import type { TransactionResult, TransactionResultCodeName } from '@stellar/stellar-sdk/xdr'
import type { BroadcastResult } from '../answer.ts'
import { classifyNodeError } from '../rpc/node-errors.ts'
import type { RpcReply } from '../rpc/rpc.ts'
import { NODE_DIALECT } from './node-dialect.ts'
import { fieldsOf } from './read/replies.ts'
import { codeOf, describeResult, readResult } from './read/transaction-result.ts'

/** `sequence`: the account's sequence number decides whether the number is used or has to wait. */
type Meaning = 'later' | 'refused' | 'sequence' | 'underpriced' | 'unknown'

/**
 * The meanings of the codes that a node returns with status ERROR to `sendTransaction`: every code of `TransactionResultCode` in
 * stellar-xdr's `Stellar-transaction.x`. The sources of the codes: stellar-core `TransactionFrame::commonValid`,
 * `FeeBumpTransactionFrame::commonValid` and `TransactionQueue::canAdd`.
 */
export const MEANINGS: Readonly<Record<TransactionResultCodeName, Meaning>> = {
  // The next ledger's time is outside its bounds: too early passes, and the ledger that closes proves too late.
  txTooEarly: 'later',
  txTooLate: 'later',
  txBadSeq: 'sequence',
  // The minimum of the network, of a full queue, or of a replacement.
  txInsufficientFee: 'underpriced',
  // Money and accounts come and go; so do the age and the gap of a sequence number in a precondition (CAP-21).
  txInsufficientBalance: 'later',
  txNoAccount: 'later',
  txBadMinSeqAgeOrGap: 'later',
  txInternalError: 'later',
  // No ledger will accept these bytes.
  txMissingOperation: 'refused',
  txBadAuth: 'refused',
  txBadAuthExtra: 'refused',
  txNotSupported: 'refused',
  txBadSponsorship: 'refused',
  txMalformed: 'refused',
  txSorobanInvalid: 'refused',
  // The validators have frozen entries (CAP-77), and only they can change it.
  txFrozenKeyAccessed: 'refused',
  // An operation failed its own check before any ledger (`OperationFrame::checkValid`).
  txFailed: 'refused',
  // The code is no error, so the node contradicts itself. The inner code of the two codes with a fee bump is read first.
  txSuccess: 'unknown',
  txFeeBumpInnerSuccess: 'unknown',
  txFeeBumpInnerFailed: 'unknown',
}

/** The answer of a node to signed bytes; `sequence` when the account has to be read before the answer is known. */
export type Sent = BroadcastResult | { readonly kind: 'sequence'; readonly detail: string }

/** stellar-rpc `sendTransaction`: it could not read the bytes. */
const UNREADABLE = /^invalid_(xdr|hash)$/

/** Reads a reply to `sendTransaction`. */
export function readSent(reply: RpcReply): Sent {
  if (reply.kind === 'error') {
    if (UNREADABLE.test(reply.message)) return { kind: 'refused', detail: reply.message }
    // The parts of the node failed to talk to each other, so the network may have the transaction. Other errors are rules of a gateway.
    const isFailure = classifyNodeError(reply, NODE_DIALECT.errors) === 'endpoint_failure'
    return { kind: isFailure ? 'unknown' : 'unclear', detail: reply.message }
  }
  const fields = fieldsOf(reply)
  if (fields.kind !== 'ok') return { kind: 'unknown', detail: fields.kind === 'unknown' ? fields.detail : '' }
  switch (fields.value.status) {
    case 'PENDING':
      return { kind: 'accepted' }
    case 'DUPLICATE':
      return { kind: 'accepted', known: true }
    case 'TRY_AGAIN_LATER':
      return {
        kind: 'later',
        detail: 'try_again_later: the queue is full, or holds another transaction of the account',
      }
    case 'ERROR':
      return readError(readResult(fields.value.errorResultXdr))
    default:
      return { kind: 'unknown', detail: 'the endpoint answered with a status that is not known' }
  }
}

function readError(result: TransactionResult | undefined): Sent {
  if (result === undefined) return { kind: 'unclear', detail: 'the endpoint did not say what is wrong' }
  const meaning = MEANINGS[codeOf(result)]
  const detail = detailOf(result, meaning)
  return meaning === 'underpriced' && result.feeCharged > 0n
    ? { kind: meaning, detail, minimum: result.feeCharged }
    : { kind: meaning, detail }
}

/** With txINSUFFICIENT_FEE a node returns in `feeCharged` the fee that it would accept. */
function detailOf(result: TransactionResult, meaning: Meaning): string {
  const description = describeResult(result)
  return meaning === 'underpriced' && result.feeCharged > 0n
    ? `${description}: a fee of at least ${result.feeCharged} stroops is expected`
    : description
}
