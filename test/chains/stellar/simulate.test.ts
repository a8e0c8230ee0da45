import { SorobanTransactionData } from '@stellar/stellar-sdk/xdr'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountWith, requestOf } from './build.ts'
import { startTellingNode, type TellingNode } from './telling-node.ts'

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

let node: TellingNode

beforeAll(async () => {
  node = await startTellingNode()
})
afterAll(() => node.stop())

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
  node.tell({ ...SAID, transactionData: resources(1_000n), ...change })
  return node.chain.prepare(CALL, accountWith())
}

describe('what a simulation says', () => {
  test('is taken where it can be: ready, or something to restore before', async () => {
    expect(await prepare({})).toMatchObject({ kind: 'ok', value: { draft: { resourceFee: 1_150n } } })
    const errand = await prepare({ restorePreamble: { transactionData: resources(5n), minResourceFee: '5' } })
    if (errand.kind !== 'errand') throw new Error('nothing is to be restored')
    node.tell(SAID)
    expect((await node.chain.prepare(errand.request, accountWith())).kind).toBe('ok')
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
