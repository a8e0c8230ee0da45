import type { BroadcastResult } from '../answer.ts'
import { classifyNodeError } from '../rpc/node-errors.ts'
import type { RpcReply } from '../rpc/rpc.ts'
import { NODE_DIALECT } from './node-dialect.ts'
import { fieldsOf } from './read/replies.ts'
import { type ErrorMeaning, readFailure } from './read/transaction-error.ts'

/** Codes of JSON-RPC errors (agave `rpc-client-api/src/custom_error.rs`). */
const PREFLIGHT_FAILED = -32002
const SIGNATURE_FAILED = -32003
const NODE_UNHEALTHY = -32005
const PRECOMPILE_FAILED = -32006
const SIGNATURE_COUNT_WRONG = -32013
/** The node cannot read the call, or refuses to look at its parameters. */
export const INVALID_PARAMS = -32602

/** The node could not read the bytes as a transaction, or found a signature invalid. */
const UNUSABLE = [SIGNATURE_FAILED, PRECOMPILE_FAILED, SIGNATURE_COUNT_WRONG, INVALID_PARAMS]

/**
 * A node reads address tables first, so a node that does not know a table, or its newest addresses, complains about the bytes (`invalid
 * transaction: Transaction address table lookup uses an invalid index`).
 */
export const ABOUT_TABLES = /address (lookup )?table/i

/** The meaning of an error for broadcast bytes. A transaction that fails with the present accounts may succeed later. */
const RESULTS: Readonly<Record<ErrorMeaning, 'accepted' | 'later' | 'refused'>> = {
  known: 'accepted',
  funds: 'later',
  wait: 'later',
  state: 'later',
  never: 'refused',
}

/**
 * Reads a reply to `sendTransaction`. With `skipPreflight` a node accepts every well-formed transaction; some providers check it all the
 * same.
 */
export function readSent(reply: RpcReply): BroadcastResult {
  if (reply.kind === 'unknown') return reply
  if (reply.kind === 'result') {
    return typeof reply.result === 'string'
      ? { kind: 'accepted' }
      : { kind: 'unknown', detail: 'the endpoint did not answer with a signature' }
  }
  const { code, message, data } = reply
  if (code === INVALID_PARAMS && ABOUT_TABLES.test(message)) return { kind: 'later', detail: message }
  if (UNUSABLE.includes(code)) return { kind: 'refused', detail: message }
  if (code === NODE_UNHEALTHY) return { kind: 'later', detail: message }
  const { err } = fieldsOf(data)
  if (code !== PREFLIGHT_FAILED || err === undefined || err === null) {
    const isFailure = classifyNodeError(reply, NODE_DIALECT.errors) === 'endpoint_failure'
    return { kind: isFailure ? 'unknown' : 'unclear', detail: message }
  }
  const { meaning, description } = readFailure(err)
  const kind = RESULTS[meaning]
  return kind === 'accepted' ? { kind, known: true } : { kind, detail: description }
}
