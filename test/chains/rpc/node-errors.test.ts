import { describe, expect, test } from 'vitest'
import { NODE_DIALECT as EVM } from '../../../src/chains/evm/read/node-dialect.ts'
import { classifyForwardedError, classifyNodeError } from '../../../src/chains/rpc/node-dialect.ts'
import { NODE_DIALECT as SOLANA } from '../../../src/chains/solana/broadcast.ts'
import { NODE_DIALECT as STELLAR } from '../../../src/chains/stellar/broadcast.ts'

const RULES = { evm: EVM.errors, stellar: STELLAR.errors, solana: SOLANA.errors }

const errorOf = (code: number, message: string) => ({ kind: 'error', code, message }) as const

/**
 * Chain, source, code and message; the class of the error as a reply to the service, and, where it differs, as a reply to a call of an API
 * caller.
 */
const ERRORS = [
  ['evm', 'EIP-1474', -32005, 'limit exceeded', 'rate_limit', 'endpoint_failure'],
  ['evm', 'Infura', -32005, 'daily request count exceeded', 'rate_limit', 'endpoint_failure'],
  ['evm', 'Alchemy', 429, 'Your app has exceeded its compute units per second capacity.', 'rate_limit'],
  ['evm', 'QuickNode', -32007, '50/second request limit reached', 'rate_limit', 'endpoint_failure'],
  ['evm', 'Base', -32016, 'over rate limit', 'rate_limit', 'endpoint_failure'],
  ['evm', 'BNB Chain', -32090, 'Too Many Requests, retry in 10s', 'rate_limit'],
  ['evm', 'a proxy', -32000, 'too many requests', 'rate_limit', 'endpoint_failure'],
  ['evm', 'geth', -32603, 'internal error', 'endpoint_failure'],
  ['evm', 'a proxy', -32000, 'upstream connect error or disconnect/reset before headers', 'endpoint_failure'],
  ['evm', 'a proxy', -32001, 'Service unavailable', 'endpoint_failure'],
  ['evm', 'a proxy', -32002, 'request timed out', 'endpoint_failure'],
  ['evm', 'Arbitrum', -32000, 'sequencer temporarily not available', 'endpoint_failure'],
  ['evm', 'geth', -32000, 'transaction indexing is in progress', 'missing_data'],
  ['evm', 'a node that dropped its history', 4444, 'pruned history unavailable', 'missing_data'],
  ['evm', 'Erigon', -32000, 'old data not available due to pruning', 'missing_data'],
  ['evm', 'geth', -32000, 'missing trie node 5f0e (path ) state is not available', 'missing_data'],
  // The node's own answers, which another endpoint would only repeat.
  ['evm', 'Besu', -32005, 'Transaction gas limit exceeds block gas limit', 'answer'],
  ['evm', 'Besu', -32005, 'Number of requests exceeds max batch size', 'answer'],
  ['evm', 'Besu', -32007, 'Sender account not authorized to send transactions', 'answer'],
  ['evm', 'Infura', -32005, 'query returned more than 10000 results', 'answer'],
  ['evm', 'geth', -32000, 'account limit exceeded', 'answer'],
  ['evm', 'geth', -32000, 'txpool is full', 'answer'],
  ['evm', 'geth', -32000, 'exceeds block gas limit', 'answer'],
  ['evm', 'Hardhat', -32603, 'Internal error: reverted with reason string', 'answer'],
  ['evm', 'geth', 3, 'execution reverted: Internal error', 'answer'],
  ['evm', 'a contract', 3, 'execution reverted: rate limit exceeded', 'answer'],
  ['evm', 'a contract', -32000, 'execution reverted: upstream pool is temporarily closed', 'answer'],
  ['evm', 'OpenEthereum', -32010, 'There are too many transactions in the queue.', 'answer'],
  ['solana', 'an unhealthy node', -32005, 'Node is behind by 300 slots', 'endpoint_failure'],
  ['solana', 'a hole', -32007, 'Slot 7 was skipped, or missing due to ledger jump', 'missing_data'],
  ['solana', 'a caller', -32016, 'Minimum context slot has not been reached', 'answer'],
  ['solana', 'no history', -32011, 'Transaction history is not available from this node', 'missing_data'],
  ['solana', 'a program', -32002, 'Transaction simulation failed: exceeded compute units', 'answer'],
  ['solana', 'QuickNode', -32007, '15/second request limit reached', 'rate_limit', 'endpoint_failure'],
  ['solana', 'a provider', 429, 'Too many requests for a specific RPC call', 'rate_limit'],
  ['stellar', 'a dead core', -32603, 'could not submit transaction to stellar-core', 'endpoint_failure'],
  [
    'stellar',
    'the duration limiter',
    -32001,
    'request exceeded processing limit threshold',
    'endpoint_failure',
  ],
  ['stellar', 'a bad call', -32602, 'invalid_xdr', 'answer'],
] as const

describe('what an error of a node says', () => {
  test.each(ERRORS)('%s, %s: %d "%s"', (chain, _who, code, message, own, forwarded?: string) => {
    expect(classifyNodeError(errorOf(code, message), RULES[chain])).toBe(own)
    expect(classifyForwardedError(errorOf(code, message), RULES[chain])).toBe(forwarded ?? own)
  })

  test('a result says nothing', () => {
    expect(classifyNodeError({ kind: 'result', result: null }, EVM.errors)).toBeUndefined()
  })
})
