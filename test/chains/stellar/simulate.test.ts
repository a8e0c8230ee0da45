import { SorobanTransactionData } from '@stellar/stellar-sdk/xdr'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStellarChain } from '../../../src/chains/stellar/stellar-chain.ts'
import type { StellarChain } from '../../../src/chains/stellar/types.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/hurried-clock.ts'
import { type RpcServer, startRpcServer } from '../../support/rpc-server.ts'
import { accountWith, NETWORK, requestOf } from './build.ts'

/** Enough for a price and for a simulation, whichever is asked. */
const SAID = {
  status: 'NOT_FOUND',
  latestLedger: 100,
  latestLedgerCloseTime: '1900000000',
  inclusionFee: { p90: '100' },
  sorobanInclusionFee: { p90: '100' },
  minResourceFee: '1000',
  results: [],
}

let said: Record<string, unknown> = SAID
let server: RpcServer
let chain: StellarChain

beforeAll(async () => {
  server = await startRpcServer((calls) => {
    const replies = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: said }))
    return { body: replies.length === 1 ? replies[0] : replies }
  })
  chain = createStellarChain({
    network: {
      type: 'stellar',
      ...NETWORK,
      isTestnet: true,
      averageBlocktimeMs: 0,
      requiredConfirmations: 0,
      rpcUrls: [{ url: server.url, weight: 100 }],
    },
    rpcTimeoutMs: 5_000,
    clock: createHurriedClock(),
    log: createLogger({ level: 'silent' }),
  })
})

afterAll(() => server.stop())

const CALL = requestOf({
  operations: [
    {
      type: 'invoke_contract',
      contract_address: 'CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC',
      function_name: 'touch',
      args: [],
    },
  ],
  maxFee: 10_000_000_000n,
})

/** Resources of nothing, with this fee. */
function resources(resourceFee: bigint): string {
  const bare = SorobanTransactionData.fromXdr(Buffer.alloc(32).toString('base64'), 'base64')
  return new SorobanTransactionData({ ext: bare.ext, resources: bare.resources, resourceFee }).toXdr('base64')
}

const prepare = (change: Record<string, unknown>) => {
  said = { ...SAID, transactionData: resources(1_000n), ...change }
  return chain.prepare(CALL, accountWith())
}

describe('what a simulation says', () => {
  test('is taken where it can be: ready, or something to restore before', async () => {
    expect(await prepare({})).toMatchObject({ kind: 'ok', value: { draft: { resourceFee: 1_150n } } })
    const errand = await prepare({ restorePreamble: { transactionData: resources(5n), minResourceFee: '5' } })
    if (errand.kind !== 'errand') throw new Error('nothing is to be restored')
    said = SAID
    expect((await chain.prepare(errand.request, accountWith())).kind).toBe('ok')
  })

  test.each([
    ['a negative fee', { minResourceFee: '-1000' }],
    ['a preamble with a negative fee', { restorePreamble: { transactionData: resources(-5n) } }],
    [
      'a preamble that nobody can read',
      { restorePreamble: { transactionData: 'AAAA', minResourceFee: '5' } },
    ],
  ])('is unknown with %s: nothing is stored that could not be signed', async (_, change) => {
    expect((await prepare(change)).kind).toBe('unknown')
  })

  test.each([
    ['call', { minResourceFee: '5000000000' }],
    ['restoring', { restorePreamble: { transactionData: resources(5_000_000_000n), minResourceFee: '5' } }],
  ])('is refused when the %s costs more than a transaction can pay', async (_, change) => {
    expect(await prepare(change)).toMatchObject({ kind: 'refused', refusal: { code: 'fee_above_cap' } })
  })
})
