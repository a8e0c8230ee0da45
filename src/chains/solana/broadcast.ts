import type { BroadcastResult } from '../answer.ts'
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
import { HEIGHT } from './read/head.ts'
import { fieldsOf } from './read/replies.ts'
import { type ErrorMeaning, readFailure } from './read/transaction-error.ts'

/** Sends signed transactions to a node in this order and returns the results in the same order. */
export async function broadcastAll(
  client: PooledClient,
  raws: readonly Uint8Array[],
  unknownTexts: UnknownTexts,
): Promise<BroadcastResult[]> {
  const calls = raws.map((raw) => ({
    method: 'sendTransaction',
    params: [Buffer.from(raw).toString('base64'), SETTINGS],
  }))
  const replies = await client.broadcast(calls)
  const results = replies.map(({ reply, unanswered }) => markUnanswered(readSent(reply), unanswered))
  reportUnclear(unknownTexts, results)
  return confirmRefusals(client, { calls, results, read: readSent })
}

/**
 * The service simulated the transaction before it signed it, and the preflight of a lagging node would refuse
 * what the node does not know yet; the node reads address tables in any case, so they must not be newer than
 * its state. The node does not rebroadcast, because the service does.
 */
const SETTINGS = {
  encoding: 'base64',
  skipPreflight: true,
  preflightCommitment: 'processed',
  maxRetries: 0,
} as const

/** Codes of JSON-RPC errors (agave `rpc-client-api/src/custom_error.rs`). */
const PREFLIGHT_FAILED = -32002
const SIGNATURE_FAILED = -32003
const PRECOMPILE_FAILED = -32006
const SIGNATURE_COUNT_WRONG = -32013
/** The node cannot read the call, or refuses to look at its parameters. */
export const INVALID_PARAMS = -32602

/** The node found a signature invalid. */
const UNUSABLE = [SIGNATURE_FAILED, PRECOMPILE_FAILED, SIGNATURE_COUNT_WRONG]

/**
 * The texts with which agave refuses to look at a transaction (`rpc.rs` `decode_and_deserialize`,
 * `sanitize_transaction`).
 */
export const UNREADABLE =
  /^invalid (transaction|base64 encoding|base58 encoding|params)|failed to ((de)?serialize|fill whole buffer)|too large|^decoded .* too/i

/**
 * A node reads address tables first, so a node that does not know a table, or its newest addresses, complains
 * about the bytes (`invalid transaction: Transaction address table lookup uses an invalid index`).
 */
export const ABOUT_TABLES = /address (lookup )?table/i

/**
 * The meaning of an error for broadcast bytes. A transaction that fails with the current accounts may succeed
 * later, or never: it gets the time of a refusal in unknown wording.
 */
const RESULTS: Readonly<Record<ErrorMeaning, 'accepted' | 'later' | 'unclear' | 'refused'>> = {
  known: 'accepted',
  funds: 'later',
  wait: 'later',
  cluster: 'unclear',
  state: 'unclear',
  never: 'refused',
}

/**
 * Reads a reply to `sendTransaction`. With `skipPreflight` a node accepts every well-formed transaction; some
 * providers check it nevertheless.
 */
export function readSent(reply: RpcReply): BroadcastResult {
  if (reply.kind === 'unknown') return reply
  if (reply.kind === 'result') {
    return typeof reply.result === 'string'
      ? { kind: 'accepted' }
      : { kind: 'unknown', detail: 'the endpoint did not answer with a signature' }
  }
  const { code, message, data } = reply
  if (code === INVALID_PARAMS && ABOUT_TABLES.test(message))
    return { kind: 'unclear', detail: message, known: true }
  if (UNUSABLE.includes(code)) return { kind: 'refused', detail: message }
  // Under the same code, providers state rules of their own ("must include a tip"), which say nothing about
  // the network.
  if (code === INVALID_PARAMS)
    return { kind: UNREADABLE.test(message) ? 'refused' : 'unclear', detail: message }
  const { err } = fieldsOf(data)
  if (code !== PREFLIGHT_FAILED || err === undefined || err === null) {
    const isFailure = classifyNodeError(reply, NODE_DIALECT.errors) === 'endpoint_failure'
    return { kind: isFailure ? 'unknown' : 'unclear', detail: message }
  }
  const { meaning, description } = readFailure(err)
  const kind = RESULTS[meaning]
  if (kind === 'accepted') return { kind, known: true }
  return kind === 'unclear' ? { kind, detail: description, known: true } : { kind, detail: description }
}

/**
 * One HTTP request holds at most this many bytes: agave reads 50 KiB (`rpc.rs` `MAX_REQUEST_BODY_SIZE`) and
 * answers HTTP 413 beyond that.
 */
const MAX_REQUEST_BYTES = 40_000

/**
 * agave's codes (`solana-rpc-client-api/src/custom_error.rs`) overlap with those of providers on other
 * chains: `-32005` is an unhealthy node, `-32007` a slot that was skipped or is missing after a ledger jump,
 * `-32016` a `minContextSlot` in the future. None of them is a rate limit. Many messages contain the words,
 * because programs use "compute units".
 */
const NODE_ERRORS: NodeErrorRules = {
  rateLimitCodes: [429, -32029, -32090, -32097],
  ambiguousRateLimitCodes: [],
  rateLimitPhrase: COMMON_RATE_LIMIT_PHRASE,
  failureCodes: [-32005],
  failurePhrase: COMMON_FAILURE_PHRASE,
  // Block cleaned up, block or status not available, slot skipped or not stored, history not kept.
  missingDataCodes: [-32001, -32004, -32007, -32009, -32011, -32014],
}

/** An account has at most 10 MiB (`MAX_PERMITTED_DATA_LENGTH`), which are 14 MiB in base64. */
const ACCOUNT_ANSWER: AnswerLimits = { bytes: 16 * 1024 * 1024, values: 100_000 }

/** One `getBlocks` lists half a million slots of ten digits (`MAX_GET_CONFIRMED_BLOCKS_RANGE`). */
const BLOCKS_ANSWER: AnswerLimits = { bytes: 8 * 1024 * 1024, values: 600_000 }

/**
 * One `getSignaturesForAddress` lists 1000 transactions, each with a memo of up to 566 bytes and an error.
 */
const HISTORY_ANSWER: AnswerLimits = { bytes: 4 * 1024 * 1024, values: 100_000 }

/** The JSON-RPC of Solana nodes. */
export const NODE_DIALECT: NodeDialect = {
  height: HEIGHT,
  errors: NODE_ERRORS,
  maxRequestBytes: MAX_REQUEST_BYTES,
  largeAnswers: {
    getBlocks: BLOCKS_ANSWER,
    getMultipleAccounts: ACCOUNT_ANSWER,
    getSignaturesForAddress: HISTORY_ANSWER,
    getTransaction: HISTORY_ANSWER,
    simulateTransaction: ACCOUNT_ANSWER,
  },
}
