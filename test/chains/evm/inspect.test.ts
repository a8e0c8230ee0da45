import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import { estimateGas } from '../../../src/chains/evm/prepare/gas.ts'
import { createAccountReader } from '../../../src/chains/evm/read/accounts.ts'
import { createHeaderReader, readHead, readReceipts } from '../../../src/chains/evm/read/reads.ts'
import type { PooledClient, RpcReply } from '../../../src/chains/rpc/rpc.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createLogger } from '../../../src/log.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { SILENT_NETWORK } from '../../transactions/stub-chain.ts'
import { FROM, requestOf, TO } from './build.ts'

/** The client has tests of its own; this one returns every reply that a node could send, also from behind. */
function saying(reply: RpcReply, behind = false): PooledClient {
  return {
    send: async (calls) => calls.map(() => reply),
    call: async () => reply,
    sendAsOf: async (calls) => calls.map(() => ({ reply, behind })),
    sendEverywhere: async (calls) => [calls.map(() => ({ reply, behind }))],
    broadcast: async () => [],
    forward: async (calls) => calls.map(() => reply),
    seenHead: () => undefined,
    states: () => [],
  }
}

const result = (value: unknown): RpcReply => ({ kind: 'result', result: value })
const SILENT: RpcReply = { kind: 'unknown', detail: 'time-out' }
const BROKEN: RpcReply = { kind: 'error', code: -32603, message: 'internal error' }

const RECEIPT = {
  transactionHash: '0xaa',
  blockNumber: '0x10',
  blockHash: '0xbb',
  status: '0x1',
  gasUsed: '0x5208',
}

describe('receipts', () => {
  const included = {
    hash: '0xaa',
    blockNumber: 16n,
    blockHash: '0xbb',
    success: true,
    result: { gasUsed: 21_000n },
  }
  const costing = (result: object) => ({ ...included, result: { ...included.result, ...result } })
  test.each([
    { name: 'a receipt', reply: result(RECEIPT), want: { kind: 'included', receipt: included } },
    {
      name: 'a reverted one',
      reply: result({ ...RECEIPT, status: '0x0' }),
      want: { kind: 'included', receipt: { ...included, success: false } },
    },
    { name: 'null', reply: result(null), want: { kind: 'none' } },
    {
      name: 'one with the price of its gas',
      reply: result({ ...RECEIPT, effectiveGasPrice: '0x3' }),
      want: { kind: 'included', receipt: costing({ feeCharged: 63_000n, gasPrice: 3n }) },
    },
    {
      name: 'one of a rollup with a fee for the parent chain',
      reply: result({ ...RECEIPT, effectiveGasPrice: '0x3', l1Fee: '0x7' }),
      want: { kind: 'included', receipt: costing({ feeCharged: 63_007n, gasPrice: 3n, l1Fee: 7n }) },
    },
    {
      name: 'one of a rollup with a fee for its operator (Isthmus: in millionths, and a constant)',
      reply: result({
        ...RECEIPT,
        effectiveGasPrice: '0x3',
        l1Fee: '0x7',
        operatorFeeScalar: '0xf4240',
        operatorFeeConstant: '0x5',
      }),
      want: {
        kind: 'included',
        receipt: costing({ feeCharged: 84_012n, gasPrice: 3n, l1Fee: 7n, operatorFee: 21_005n }),
      },
    },
    {
      name: 'one of a rollup with a fee for its operator (Jovian: in hundreds, and a constant)',
      reply: result({
        ...RECEIPT,
        effectiveGasPrice: '0x3',
        l1Fee: '0x7',
        operatorFeeScalar: '0x2',
        operatorFeeConstant: '0x5',
        daFootprintGasScalar: '0x190',
      }),
      want: {
        kind: 'included',
        receipt: costing({ feeCharged: 4_263_012n, gasPrice: 3n, l1Fee: 7n, operatorFee: 4_200_005n }),
      },
    },
    {
      name: 'one with an unreadable price',
      reply: result({ ...RECEIPT, effectiveGasPrice: -1 }),
      want: { kind: 'included', receipt: included },
    },
    {
      name: 'one with a price of more than 128 bits',
      reply: result({ ...RECEIPT, effectiveGasPrice: `0x1${'0'.repeat(32)}` }),
      want: { kind: 'included', receipt: included },
    },
    {
      name: 'one of a rollup whose fees have more than 128 bits together',
      reply: result({ ...RECEIPT, effectiveGasPrice: '0x3', l1Fee: `0x${'f'.repeat(32)}` }),
      want: { kind: 'included', receipt: costing({ gasPrice: 3n, l1Fee: 2n ** 128n - 1n }) },
    },
    {
      name: 'one of the pool, without a block',
      reply: result({ ...RECEIPT, blockNumber: null, blockHash: null }),
      want: { kind: 'none' },
    },
    // I6: only a clear "no" is a no.
    { name: 'silence', reply: SILENT, want: { kind: 'unknown' } },
    { name: 'an error', reply: BROKEN, want: { kind: 'unknown' } },
    { name: 'an empty object', reply: result({}), want: { kind: 'unknown' } },
    { name: 'a text', reply: result('pending'), want: { kind: 'unknown' } },
    {
      name: 'a broken number',
      reply: result({ ...RECEIPT, blockNumber: 'latest' }),
      want: { kind: 'unknown' },
    },
  ])('$name: $want.kind', async ({ reply, want }) => {
    expect(await readReceipts(saying(reply), ['0xaa'])).toEqual([want])
  })
})

describe('an endpoint that is behind', () => {
  test('can say yes, and never no (I6, R6)', async () => {
    const [found] = await readReceipts(saying(result(RECEIPT), true), ['0xaa'])
    expect(found?.kind).toBe('included')
    expect(await readReceipts(saying(result(null), true), ['0xaa'])).toEqual([{ kind: 'unknown' }])
    expect(await readReceipts(saying(result({ ...RECEIPT, blockNumber: null }), true), ['0xaa'])).toEqual([
      { kind: 'unknown' },
    ])
  })

  test('knows neither nonce nor balance nor block', async () => {
    const old = saying(result('0x1'), true)
    expect(await createAccountReader(old, 12_000, systemClock).nonces([FROM])).toMatchObject([
      { kind: 'unknown', detail: expect.stringMatching('behind') },
    ])
    expect(await createAccountReader(old, 12_000, systemClock).balance(FROM)).toMatchObject({
      kind: 'unknown',
    })
    const block = saying(result({ number: '0x10', hash: '0xbb' }), true)
    expect(await createHeaderReader(block).blockHash(16n)).toMatchObject({ kind: 'unknown' })
  })
})

describe('quantities and blocks', () => {
  test.each([
    { reply: result('0xff'), want: { kind: 'ok', value: 255n } },
    { reply: result(`0x${'f'.repeat(64)}`), want: { kind: 'ok', value: 2n ** 256n - 1n } },
    ...[
      ...[result('0x'), result('255'), result(255), result(null), result({}), SILENT, BROKEN],
      result(`0x1${'0'.repeat(64)}`),
    ].map((reply) => ({ reply, want: { kind: 'unknown' } })),
  ])('a balance from $reply.result', async ({ reply, want }) => {
    expect(await createAccountReader(saying(reply), 12_000, systemClock).balance(FROM)).toMatchObject(want)
  })

  // The database stores nonces and heights as signed 64-bit integers.
  test.each([
    { reply: result('0xff'), want: { kind: 'ok', value: 255n } },
    { reply: result('0x7fffffffffffffff'), want: { kind: 'ok', value: 2n ** 63n - 1n } },
    ...[result('0x'), result(255), result('0x8000000000000000'), SILENT, BROKEN].map((reply) => ({
      reply,
      want: { kind: 'unknown' },
    })),
  ])('a nonce from $reply.result', async ({ reply, want }) => {
    expect(await createAccountReader(saying(reply), 12_000, systemClock).nonces([FROM, TO])).toMatchObject([
      want,
      want,
    ])
  })

  test.each([
    {
      reply: result({ number: '0x10', hash: '0xbb' }),
      want: { kind: 'ok', value: { number: 16n, hash: '0xbb' } },
    },
    ...[
      ...[result(null), result({}), result({ number: null, hash: null }), result('0x10'), SILENT, BROKEN],
      result({ number: '0x8000000000000000', hash: '0xbb' }),
    ].map((reply) => ({ reply, want: { kind: 'unknown' } })),
  ])('a block from $reply.result', async ({ reply, want }) => {
    expect(await readHead(saying(reply), 'depth')).toMatchObject(want)
    expect((await createHeaderReader(saying(reply)).blockHash(16n)).kind).toBe(want.kind)
  })
})

describe('estimateGas', () => {
  const error = (code: number, message: string, data?: string): RpcReply => ({
    kind: 'error',
    code,
    message,
    data,
  })
  test.each([
    { name: 'an estimate has no margin yet', reply: result('0x5208'), want: { kind: 'ok', value: 21_000n } },
    { name: 'garbage', reply: result('lots'), want: { kind: 'unknown' } },
    { name: 'silence', reply: SILENT, want: { kind: 'unknown' } },
    { name: 'a failure of the node', reply: BROKEN, want: { kind: 'unknown' } },
    {
      name: 'a revert',
      reply: error(3, 'execution reverted: no'),
      want: {
        kind: 'refused',
        refusal: { code: 'execution_reverted', detail: 'The transaction would revert: no.' },
      },
    },
    {
      name: 'no money',
      reply: error(-32000, 'insufficient funds for transfer'),
      want: { kind: 'refused', refusal: { code: 'insufficient_balance' } },
    },
  ])('$name: $want.kind', async ({ reply, want }) => {
    expect(await estimateGas({ client: saying(reply) }, requestOf(), FROM)).toMatchObject(want)
  })
})

describe('the funds of an account', () => {
  const ADDRESS = '0x00000000000000000000000000000000000000aA'

  let anvil: Anvil
  let node: FaultyNode
  beforeAll(async () => {
    anvil = await startAnvil({ args: ['--no-mining'] })
    node = await startFaultyNode(anvil.url)
    await anvil.rpc('anvil_mine', ['0xa'])
    await anvil.rpc('anvil_setBalance', [ADDRESS, '0x5'])
  })
  afterAll(async () => {
    await node.stop()
    await anvil.stop()
  })

  /** A chain that has not asked anything yet, as after a restart. */
  function newChain() {
    const network = { ...SILENT_NETWORK, rpcUrls: [{ url: node.url, weight: 100 }] }
    const log = createLogger({ level: 'silent' })
    return createEvmChain({ network, rpcTimeoutMs: 5_000, clock: systemClock, log })
  }

  test('the funds of an account are unknown from a node that has not reached the wanted block', async () => {
    expect(await newChain().funding.read(ADDRESS, { asOf: 10n })).toEqual({
      kind: 'ok',
      value: { spendable: 5n, missingReserve: 0n, exists: true },
    })
    node.habits = { behind: 3 }
    expect(await newChain().funding.read(ADDRESS, { asOf: 10n })).toMatchObject({ kind: 'unknown' })
    expect(await newChain().funding.read(ADDRESS, { asOf: 7n })).toMatchObject({ kind: 'ok' })
  })
})
