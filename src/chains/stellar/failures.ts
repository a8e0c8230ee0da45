import type { TransactionResult, TransactionResultCodeName } from '@stellar/stellar-sdk/xdr'
import type { BroadcastResult } from '../answer.ts'
import type { RpcReply } from '../rpc/rpc.ts'
import { fieldsOf } from './read/replies.ts'
import { codeOf, describeResult, readResult } from './read/transaction-result.ts'

/** `sequence`: the account's sequence number decides whether it is used or has to wait. */
type Meaning = 'later' | 'refused' | 'sequence' | 'underpriced' | 'unknown'

/**
 * What a node says with status ERROR to `sendTransaction`, and what it means to us. Every code of `TransactionResultCode` in
 * stellar-xdr's `Stellar-transaction.x`; where each arises: stellar-core `TransactionFrame::commonValid`,
 * `FeeBumpTransactionFrame::commonValid` and `TransactionQueue::canAdd`.
 */
export const MEANINGS: Readonly<Record<TransactionResultCodeName, Meaning>> = {
  // The next ledger's time is not in its bounds: too early passes, too late is proved by the ledger that closes then.
  txTooEarly: 'later',
  txTooLate: 'later',
  txBadSeq: 'sequence',
  // The minimum of the network, of a full queue, or of a replacement.
  txInsufficientFee: 'underpriced',
  // Money and accounts come and go; so do the age and the gap of a sequence number that a precondition asks for (CAP-21).
  txInsufficientBalance: 'later',
  txNoAccount: 'later',
  txBadMinSeqAgeOrGap: 'later',
  txInternalError: 'later',
  // These bytes will not do on any ledger.
  txMissingOperation: 'refused',
  txBadAuth: 'refused',
  txBadAuthExtra: 'refused',
  txNotSupported: 'refused',
  txBadSponsorship: 'refused',
  txMalformed: 'refused',
  txSorobanInvalid: 'refused',
  // Entries that the validators have frozen (CAP-77); they alone can change it.
  txFrozenKeyAccessed: 'refused',
  // Before any ledger: an operation did not pass its own check (`OperationFrame::checkValid`).
  txFailed: 'refused',
  // No error at all, so the node contradicts itself. Of the two with a fee bump the inner code is read first.
  txSuccess: 'unknown',
  txFeeBumpInnerSuccess: 'unknown',
  txFeeBumpInnerFailed: 'unknown',
}

/** What a node said to signed bytes; `sequence` when the account has to be asked before it is known. */
export type Sent = BroadcastResult | { readonly kind: 'sequence'; readonly detail: string }

/** stellar-rpc, `sendTransaction`: the bytes themselves could not be read. */
const UNREADABLE = /^invalid_(xdr|hash)$/

/** Reads a reply to `sendTransaction`. */
export function readSent(reply: RpcReply): Sent {
  if (reply.kind === 'error') {
    if (UNREADABLE.test(reply.message)) return { kind: 'refused', detail: reply.message }
    // Trouble between the node's parts: the network may have it, or not.
    return { kind: 'unknown', detail: reply.message }
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
  if (result === undefined) return { kind: 'unknown', detail: 'the endpoint did not say what is wrong' }
  const meaning = MEANINGS[codeOf(result)]
  const detail = detailOf(result, meaning)
  return meaning === 'underpriced' && result.feeCharged > 0n
    ? { kind: meaning, detail, minimum: result.feeCharged }
    : { kind: meaning, detail }
}

/** With txINSUFFICIENT_FEE a node puts into `feeCharged` what it would take. */
function detailOf(result: TransactionResult, meaning: Meaning): string {
  const description = describeResult(result)
  return meaning === 'underpriced' && result.feeCharged > 0n
    ? `${description}: a fee of at least ${result.feeCharged} stroops is expected`
    : description
}
