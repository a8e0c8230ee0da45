import type { AnswerLimits } from '../rpc/answer-limits.ts'
import type { NodeDialect } from '../rpc/node-dialect.ts'
import { COMMON_FAILURE_PHRASE, COMMON_RATE_LIMIT_PHRASE, type NodeErrorRules } from '../rpc/node-errors.ts'
import { HEIGHT } from './read/head.ts'

/**
 * One HTTP request holds at most this many bytes, below the 512 KiB that stellar-rpc reads (`internal/jsonrpc.go` `maxHTTPRequestSize`).
 */
const MAX_REQUEST_BYTES = 400_000

/**
 * stellar-rpc returns `-32603` (`jrpc2.InternalError`) only for failures of its own: a core that is down or busy, a database that cannot be
 * read. `-32001` and `-32003` come from its limits of the request's duration and of the queue (`requestdurationlimiter.go`, `backlogQ.go`).
 * A fault of the call is `-32602`, or part of the result.
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
 * The envelope, the result and the changed entries of a transaction, in base64. Today's limits of the network (129 KiB to send, 200 KiB to
 * read, 16 KiB of events) fit into 1 MiB, and validators vote for larger ones from time to time.
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
