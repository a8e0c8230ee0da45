import type { AnswerLimits } from '../rpc/answer-limits.ts'
import type { NodeDialect } from '../rpc/node-dialect.ts'
import { COMMON_FAILURE_PHRASE, COMMON_RATE_LIMIT_PHRASE, type NodeErrorRules } from '../rpc/node-errors.ts'
import { HEIGHT } from './read/head.ts'

/**
 * One HTTP request holds at most this many bytes: agave reads 50 KiB (`rpc.rs` `MAX_REQUEST_BODY_SIZE`) and answers HTTP 413 beyond that.
 */
const MAX_REQUEST_BYTES = 40_000

/**
 * agave's codes (`solana-rpc-client-api/src/custom_error.rs`) overlap with those of providers on other chains: `-32005` is an unhealthy
 * node, `-32007` a slot that was skipped or is missing after a ledger jump, `-32016` a `minContextSlot` in the future. None of them is a
 * rate limit. Programs use "compute units", so many messages contain the words.
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

/** One `getSignaturesForAddress` lists 1000 transactions, each with a memo of up to 566 bytes and an error. */
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
