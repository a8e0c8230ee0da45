import {
  COMMON_FAILURE_PHRASE,
  COMMON_RATE_LIMIT_PHRASE,
  type NodeDialect,
  type NodeErrorRules,
} from '../../rpc/node-dialect.ts'
import type { AnswerLimits } from '../../rpc/transport.ts'
import { HEIGHT } from './quantity.ts'

/**
 * One HTTP request holds at most this many bytes. geth accepts 5 MB (`rpc/http.go` `defaultBodyLimit`), many
 * gateways 1 MB; they answer a longer one with HTTP 413 and process nothing of it.
 */
const MAX_REQUEST_BYTES = 1_000_000

/**
 * EIP-1474's `-32005` and the codes of QuickNode and Base are ambiguous: Besu uses them for faults of the
 * call (`-32005` gas limit and batch size, `-32007` not authorized), Infura for a result that is too large.
 * Their messages decide. Alchemy's `429`, and the codes of Ankr and BNB Chain, mean a rate limit only.
 */
const NODE_ERRORS: NodeErrorRules = {
  rateLimitCodes: [429, -32029, -32090, -32097],
  ambiguousRateLimitCodes: [-32005, -32007, -32016],
  rateLimitPhrase: new RegExp(`${COMMON_RATE_LIMIT_PHRASE.source}|compute units`, 'i'),
  callFaultPhrase:
    /\bgas\b|\bbatch\b|not authori[sz]ed|returned more than|block range|response size|nonce|too (large|big|many (blocks|addresses|topics|results))/i,
  failureCodes: [],
  failurePhrase: COMMON_FAILURE_PHRASE,
  // EIP-4444: the node has dropped its history.
  missingDataCodes: [4444],
  missingDataPhrase:
    /transaction indexing is in progress|old data not available|history (is )?(has been )?(pruned|unavailable|not available)|missing trie node/i,
}

/**
 * A whole block, or everything that one transaction can write into it: EIP-7934 limits a block to 10 MiB,
 * which are 20 MiB in hexadecimal, and 16.7 million gas (EIP-7825) pay for some 35,000 logs.
 */
const BLOCK_ANSWER: AnswerLimits = { bytes: 24 * 1024 * 1024, values: 500_000 }

/**
 * A contract chooses the data of its revert; 50 million gas, the limit of nodes for calls, pay for memory of
 * about 5 MB.
 */
const CALL_ANSWER: AnswerLimits = { bytes: 24 * 1024 * 1024, values: 1_000 }

/** The JSON-RPC of EVM nodes. */
export const NODE_DIALECT: NodeDialect = {
  height: HEIGHT,
  errors: NODE_ERRORS,
  maxRequestBytes: MAX_REQUEST_BYTES,
  largeAnswers: {
    eth_getBlockByNumber: BLOCK_ANSWER,
    eth_getBlockReceipts: BLOCK_ANSWER,
    eth_getTransactionReceipt: BLOCK_ANSWER,
    eth_call: CALL_ANSWER,
    eth_estimateGas: CALL_ANSWER,
  },
}
