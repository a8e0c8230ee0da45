import {
  type Transaction,
  TransactionEnvelope,
  type TransactionResult,
  type TransactionResultCodeName,
} from '@stellar/stellar-sdk/xdr'
import type { Answer, BroadcastResult } from '../answer.ts'
import {
  COMMON_FAILURE_PHRASE,
  COMMON_RATE_LIMIT_PHRASE,
  classifyNodeError,
  type NodeDialect,
  type NodeErrorRules,
} from '../rpc/node-dialect.ts'
import { confirmRefusals, markUnanswered, reportUnclear, type UnknownTexts } from '../rpc/refusals.ts'
import type { PooledClient, RpcReply } from '../rpc/rpc.ts'
import type { AnswerLimits } from '../rpc/transport.ts'
import { codeOf, describeResult, readResult } from './inclusion/receipts.ts'
import { resourceFeeOf } from './model/envelope.ts'
import { underlying } from './model/strkey.ts'
import type { MarketWatch } from './prepare/fees.ts'
import { isSorobanTransaction } from './prepare/simulate.ts'
import { readNonces } from './read/accounts.ts'
import { fieldsOf, HEIGHT } from './read/replies.ts'

interface BroadcastTerms {
  /** For each envelope, in the same order: a queue may have another one with its sequence number. */
  readonly mayBeInPool?: readonly boolean[] | undefined
  readonly sawMinimum: MarketWatch['sawMinimum']
  readonly unknownTexts: UnknownTexts
}

/**
 * Sends signed envelopes to a node in this order and returns the results in the same order. `sawMinimum`
 * receives the prices that a full queue demands. The price of a replacement is ten times that of the queued
 * transaction (stellar-core `canReplaceByFee`) and says nothing about the market.
 */
export async function broadcastAll(
  client: PooledClient,
  raws: readonly Uint8Array[],
  { mayBeInPool = [], sawMinimum, unknownTexts }: BroadcastTerms,
): Promise<BroadcastResult[]> {
  const calls = raws.map((raw) => ({
    method: 'sendTransaction',
    params: { transaction: Buffer.from(raw).toString('base64') },
  }))
  const replies = await client.broadcast(calls)
  const sent = replies.map(({ reply, unanswered }) => {
    const read = readSent(reply)
    return read.kind === 'sequence' ? read : markUnanswered(read, unanswered)
  })
  reportUnclear(unknownTexts, sent)
  for (const [index, one] of sent.entries()) {
    if (one.kind === 'underpriced' && one.minimum !== undefined && mayBeInPool[index] !== true)
      tellMinimum(raws[index] ?? new Uint8Array(), one.minimum, sawMinimum)
  }
  const results = await settleSequences(client, raws, sent)
  return confirmRefusals(client, { calls, results, read: readSent })
}

/** A node names a whole fee for an envelope; a fee bump counts one operation more (CAP-15). */
function tellMinimum(raw: Uint8Array, fee: bigint, sawMinimum: MarketWatch['sawMinimum']): void {
  const { tx, bumped } = openRaw(raw)
  const count = BigInt(tx.operations.length + (bumped ? 1 : 0))
  const inclusion = fee - resourceFeeOf(tx)
  sawMinimum((inclusion + count - 1n) / count, isSorobanTransaction(tx) ? 'soroban' : 'classic')
}

/**
 * The code txBAD_SEQ only says that the number is not the next one. The account decides: it is past the
 * number, so a transaction with it is included; or it has not reached the number yet. Unknown is never "used"
 * (I6).
 */
async function settleSequences(
  client: PooledClient,
  raws: readonly Uint8Array[],
  sent: readonly Sent[],
): Promise<BroadcastResult[]> {
  const numberings = new Map(
    [...sent.keys()]
      .filter((index) => sent[index]?.kind === 'sequence')
      .map((index) => [index, numberingOf(raws[index] ?? new Uint8Array())]),
  )
  if (numberings.size === 0) return sent.map((one) => resolve(one, undefined, 0n))
  const sources = [...new Set([...numberings.values()].map(({ source }) => source))]
  const answers = await readNonces(client, sources)
  const next = new Map(sources.map((source, index) => [source, answers[index]]))
  return sent.map((one, index) => {
    const numbered = numberings.get(index)
    return resolve(one, next.get(numbered?.source ?? ''), numbered?.sequence ?? 0n)
  })
}

function resolve(sent: Sent, next: Answer<bigint> | undefined, sequence: bigint): BroadcastResult {
  if (sent.kind !== 'sequence') return sent
  const used = next?.kind === 'ok' && next.value > sequence
  return { kind: used ? 'nonce_used' : 'later', detail: sent.detail }
}

/** Returns the account and sequence number that the bytes use, which are not those of a fee bump's payer. */
function numberingOf(raw: Uint8Array): { readonly source: string; readonly sequence: bigint } {
  const { tx } = openRaw(raw)
  return { source: underlying(tx.sourceAccount), sequence: tx.seqNum }
}

function openRaw(raw: Uint8Array): { readonly tx: Transaction; readonly bumped: boolean } {
  const envelope = TransactionEnvelope.fromXdr(raw)
  if (envelope.type === 'envelopeTypeTxV0') throw new Error('envelopes of version 0 are never signed here')
  return envelope.type === 'envelopeTypeTx'
    ? { tx: envelope.v1.tx, bumped: false }
    : { tx: envelope.feeBump.tx.innerTx.v1.tx, bumped: true }
}

/** `sequence`: the account's sequence number decides whether the number is used or must wait. */
type Meaning = 'later' | 'unclear' | 'refused' | 'sequence' | 'underpriced' | 'unknown'

/**
 * The meanings of the codes that a node returns with status ERROR to `sendTransaction`: every code of
 * `TransactionResultCode` in stellar-xdr's `Stellar-transaction.x`. The sources of the codes: stellar-core
 * `TransactionFrame::commonValid`, `FeeBumpTransactionFrame::commonValid` and `TransactionQueue::canAdd`.
 */
export const MEANINGS: Readonly<Record<TransactionResultCodeName, Meaning>> = {
  // The next ledger's time is outside its bounds: too early passes, and the ledger that closes proves too
  // late. A node whose clock is wrong may say so for ever.
  txTooEarly: 'unclear',
  txTooLate: 'unclear',
  // The node or the network failed, for a moment or permanently.
  txInternalError: 'unclear',
  txBadSeq: 'sequence',
  // The minimum of the network, of a full queue, or of a replacement.
  txInsufficientFee: 'underpriced',
  // Money and accounts come and go; so do the age and the gap of a sequence number in a precondition
  // (CAP-21).
  txInsufficientBalance: 'later',
  txNoAccount: 'later',
  txBadMinSeqAgeOrGap: 'later',
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
  // The code is no error, so the node contradicts itself. The inner code of the two codes with a fee bump is
  // read first.
  txSuccess: 'unknown',
  txFeeBumpInnerSuccess: 'unknown',
  txFeeBumpInnerFailed: 'unknown',
}

/**
 * The answer of a node to signed bytes; `sequence` when the account has to be read before the answer is
 * known.
 */
type Sent = BroadcastResult | { readonly kind: 'sequence'; readonly detail: string }

/** stellar-rpc `sendTransaction`: it could not read the bytes. */
const UNREADABLE = /^invalid_(xdr|hash)$/

/** Reads a reply to `sendTransaction`. */
export function readSent(reply: RpcReply): Sent {
  if (reply.kind === 'error') {
    if (UNREADABLE.test(reply.message)) return { kind: 'refused', detail: reply.message }
    // The parts of the node failed to talk to each other, so the network may have the transaction. Other
    // errors are rules of a gateway.
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
      return { kind: 'unknown', detail: 'the endpoint answered with an unknown status' }
  }
}

function readError(result: TransactionResult | undefined): Sent {
  if (result === undefined) return { kind: 'unclear', detail: 'the endpoint gave no reason' }
  const meaning = MEANINGS[codeOf(result)]
  const detail = detailOf(result, meaning)
  if (meaning === 'unclear') return { kind: meaning, detail, known: true }
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

/**
 * One HTTP request holds at most this many bytes, below the 512 KiB that stellar-rpc reads
 * (`internal/jsonrpc.go` `maxHTTPRequestSize`).
 */
const MAX_REQUEST_BYTES = 400_000

/**
 * stellar-rpc returns `-32603` (`jrpc2.InternalError`) only for its own failures: a core that is down or
 * busy, a database that cannot be read. `-32001` and `-32003` come from its limits of the request's duration
 * and of the queue (`requestdurationlimiter.go`, `backlogQ.go`). A fault of the call is `-32602`, or part of
 * the result.
 */
const NODE_ERRORS: NodeErrorRules = {
  rateLimitCodes: [429, -32029, -32090, -32097],
  ambiguousRateLimitCodes: [-32005],
  rateLimitPhrase: new RegExp(`${COMMON_RATE_LIMIT_PHRASE.source}|compute units`, 'i'),
  failureCodes: [-32603, -32001, -32003],
  failurePhrase: COMMON_FAILURE_PHRASE,
  missingDataCodes: [],
}

/**
 * The envelope, the result and the changed entries of a transaction, in base64. Today's limits of the network
 * (129 KiB to send, 200 KiB to read, 16 KiB of events) fit into 1 MiB, and validators vote for larger ones
 * from time to time.
 */
const TRANSACTION_ANSWER: AnswerLimits = { bytes: 8 * 1024 * 1024, values: 100_000 }

/** A ledger with all its transactions, of which the service reads the header. */
const LEDGER_ANSWER: AnswerLimits = { bytes: 16 * 1024 * 1024, values: 100_000 }

/** The JSON-RPC of Stellar nodes. */
export const NODE_DIALECT: NodeDialect = {
  height: HEIGHT,
  errors: NODE_ERRORS,
  maxRequestBytes: MAX_REQUEST_BYTES,
  largeAnswers: {
    getTransaction: TRANSACTION_ANSWER,
    simulateTransaction: TRANSACTION_ANSWER,
    getLatestLedger: LEDGER_ANSWER,
    getLedgers: LEDGER_ANSWER,
  },
}
