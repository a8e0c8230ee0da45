import { describe, expect, test } from 'vitest'
import { isEndpointTrouble, isRateLimit } from '../../../src/chains/rpc/trouble.ts'

const said = (message: string, code = -32000) => ({ kind: 'error', code, message }) as const

/** What providers and proxies say, whatever was asked. */
const ENDPOINT_WORDS = [
  ['EIP-1474', -32005, 'limit exceeded', 'limit'],
  ['Infura', -32005, 'daily request count exceeded, request rate limited', 'limit'],
  ['Alchemy', 429, 'Your app has exceeded its compute units per second capacity.', 'limit'],
  ['QuickNode', -32007, '50/second request limit reached', 'limit'],
  ['Base', -32016, 'over rate limit', 'limit'],
  ['BNB Chain', -32090, 'Too Many Requests, retry in 10s', 'limit'],
  ['a proxy', -32000, 'too many requests', 'limit'],
  ['geth', -32603, 'internal error', 'trouble'],
  ['a proxy', -32000, 'upstream connect error or disconnect/reset before headers', 'trouble'],
  ['a proxy', -32001, 'Service unavailable', 'trouble'],
  ['a proxy', -32002, 'request timed out', 'trouble'],
  ['Arbitrum', -32000, 'sequencer temporarily not available', 'trouble'],
  // The node's own answers, which another endpoint would only repeat.
  ['geth', -32000, 'account limit exceeded', 'neither'],
  ['geth', -32000, 'txpool is full', 'neither'],
  ['geth', -32000, 'exceeds block gas limit', 'neither'],
  ['geth', -32000, 'missing trie node 5f0e (path )', 'neither'],
  ['Hardhat', -32603, 'Internal error: reverted with reason string', 'neither'],
  ['geth', 3, 'execution reverted: Internal error', 'neither'],
  ['a contract', 3, 'execution reverted: rate limit exceeded', 'neither'],
  ['a contract', -32000, 'execution reverted: upstream pool is temporarily closed', 'neither'],
  ['OpenEthereum', -32010, 'There are too many transactions in the queue.', 'neither'],
] as const

describe('trouble of the endpoint, not of the call', () => {
  test.each(ENDPOINT_WORDS)('%s: %d "%s" is %s', (_who, code, message, want) => {
    const reply = said(message, code)
    expect(isRateLimit(reply)).toBe(want === 'limit')
    expect(!isRateLimit(reply) && isEndpointTrouble(reply)).toBe(want === 'trouble')
  })
})
