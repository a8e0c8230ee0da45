import { StrKey } from '@stellar/stellar-sdk'
import { SorobanTransactionData } from '@stellar/stellar-sdk/xdr'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SETTLE_MS } from '../../../../src/chains/simulations.ts'
import { type RpcServer, startRpcServer } from '../../../support/rpc-server.ts'
import { startBalancer } from '../balancer.ts'
import { accountWith, requestOf } from '../build.ts'
import { type ConstantNode, startConstantNode } from '../constant-node.ts'
import { type Stage, setStage } from '../stage.ts'

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

let node: ConstantNode

beforeAll(async () => {
  node = await startConstantNode()
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
    const setup = await prepare({ restorePreamble: { transactionData: resources(5n), minResourceFee: '5' } })
    if (setup.kind !== 'setup') throw new Error('nothing is to be restored')
    node.tell(SAID)
    expect((await node.chain.prepare(setup.request, accountWith())).kind).toBe('ok')
  })

  test.each([
    ['a negative fee', { minResourceFee: '-1000' }],
    ['a preamble with a negative fee', { restorePreamble: { transactionData: resources(-5n) } }],
    [
      'a preamble that no one can read',
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

describe('what a simulation complains of', () => {
  test.each([
    'HostError: Error(Contract, #10)\n\nEvent log (newest first):\n   0: …',
    'HostError: Error(WasmVm, InvalidAction)',
    'Could not unmarshal transaction',
    'Transaction contains more than one operation',
    'Transaction contains unsupported operation type: OperationTypePayment',
    'transaction contains unsupported operation type: OperationTypePayment',
    "cannot set authMode to 'record' with an auth footprint",
  ])('is a refusal where the call is at fault: %s', async (error) => {
    expect(await prepare({ error })).toMatchObject({
      kind: 'refused',
      refusal: { code: 'execution_reverted', detail: expect.stringContaining(error.split('\n')[0] ?? '') },
    })
  })

  test.each([
    'preflight queue full',
    'preflight worker pool is closed',
    'could not query captive core: http request failed: HostError is not the matter',
    'panic during preflight',
    'missing meta for latest ledger (7)',
    'context deadline exceeded',
    'something that no one has seen yet',
    '',
  ])('is unknown where the node is at fault, or may be, and its words are shown: %s', async (error) => {
    expect(await prepare({ error })).toMatchObject({
      kind: 'unknown',
      detail: expect.stringContaining(error),
    })
  })
})

describe('a faulty node', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await setStage()
  })
  afterAll(() => stage.ledger.stop())

  const callOf = (contract_address: string) =>
    requestOf({
      operations: [{ type: 'invoke_contract', contract_address, function_name: 'touch', args: [] }],
    })

  test.each(['preflight_full', 'preflight_closed', 'core_gone', 'too_slow', 'panicking'] as const)(
    'does not end a call that is well (%s)',
    async (nodeFault) => {
      const call = callOf(stage.ledger.contract({ touch: () => undefined }))
      stage.ledger.setNodeFault(nodeFault)
      expect((await stage.chain.prepare(call, accountWith())).kind).toBe('unknown')
      stage.ledger.setNodeFault('none')
      expect((await stage.chain.prepare(call, accountWith())).kind).toBe('ok')
    },
  )

  test('that is behind does not know of a contract that is new', async () => {
    const call = callOf(stage.ledger.contract({ touch: () => undefined }))
    stage.ledger.close(3)
    const missing = callOf('CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC')
    // Two nodes behind one url: the newer one tells how far the network is, the older one simulates.
    const urls = [stage.ledger.url, stage.ledger.url, stage.ledger.url, stage.ledger.url]
    const mixed = await startBalancer([...urls, stage.ledger.replica({ behind: 5 })])
    const chain = stage.chainAt(mixed.url)
    const answers = []
    for (let count = 0; count < 10; count += 1) answers.push(await chain.prepare(call, accountWith()))
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['ok', 'unknown']))
    expect((await stage.chain.prepare(missing, accountWith())).kind).toBe('refused')
    const late = stage.chainAt(stage.ledger.replica({ behind: 5 }), stage.ledger.url)
    await late.head()
    expect((await late.prepare(call, accountWith())).kind).toBe('ok')
    await mixed.stop()
  })
})

describe('a refusal by one of several endpoints', () => {
  let stage: Stage
  let silent: RpcServer
  beforeAll(async () => {
    stage = await setStage()
    silent = await startRpcServer(() => 'cut')
  })
  afterAll(() => Promise.all([stage.ledger.stop(), silent.stop()]))

  const callOf = (contract_address: string) =>
    requestOf({
      operations: [{ type: 'invoke_contract', contract_address, function_name: 'touch', args: [] }],
      maxFee: 10_000_000_000n,
    })
  const callOfNew = () => callOf(stage.ledger.contract({ touch: () => undefined }))
  const missing = (fill: number) => callOf(StrKey.encodeContract(Buffer.alloc(32, fill)))
  const lagging = () => stage.ledger.replica({ behind: 5 })
  const FINAL = {
    kind: 'refused',
    refusal: { code: 'execution_reverted', detail: expect.stringContaining('MissingValue') },
  }
  const DOUBTED = { kind: 'refused', refusal: { ...FINAL.refusal, unanswered: true } }

  test('that lags does not count when another endpoint has the newest ledger', async () => {
    const call = callOfNew()
    stage.ledger.close(3)
    expect((await stage.chainAt(lagging()).prepare(call, accountWith())).kind).toBe('refused')
    const chain = stage.chainAt(lagging(), stage.ledger.url)
    expect((await chain.prepare(call, accountWith())).kind).toBe('ok')
  })

  test('that lags is not final while another endpoint is silent, and passes when it has come as far', async () => {
    const call = callOfNew()
    stage.ledger.close()
    const chain = stage.chainAt(lagging(), silent.url)
    expect(await chain.prepare(call, accountWith())).toEqual(DOUBTED)
    stage.ledger.close(5)
    expect((await chain.prepare(call, accountWith())).kind).toBe('ok')
  })

  test('that has not the newest ledger decides nothing when another endpoint has it and cannot simulate', async () => {
    const call = callOfNew()
    stage.ledger.close(3)
    const faulty = await stage.ledger.startFaulty('preflight_full')
    const chain = stage.chainAt(lagging(), faulty.url)
    expect((await chain.prepare(call, accountWith())).kind).toBe('unknown')
    await faulty.stop()
  })

  test('is final when every endpoint answers, and the newest refuses as well', async () => {
    const chain = stage.chainAt(lagging(), stage.ledger.url)
    expect(await chain.prepare(missing(1), accountWith())).toEqual(FINAL)
  })

  test('is final a minute of ledgers later, so that a silent endpoint holds up nothing for ever', async () => {
    const chain = stage.chainAt(stage.ledger.url, silent.url)
    const prepare = () => chain.prepare(missing(2), accountWith())
    expect(await prepare()).toEqual(DOUBTED)
    stage.clock.advance(SETTLE_MS)
    stage.ledger.close(11)
    expect(await prepare()).toEqual(DOUBTED)
    expect(await chain.prepare(missing(3), accountWith())).toEqual(DOUBTED)
    stage.ledger.close()
    expect(await prepare()).toEqual(FINAL)
  })

  test('is final four ledgers later where it is the only endpoint, which may lag', async () => {
    const prepare = () => stage.chain.prepare(missing(4), accountWith())
    expect(await prepare()).toEqual(DOUBTED)
    stage.clock.advance(SETTLE_MS)
    for (let count = 0; count < 3; count += 1) stage.ledger.close()
    expect(await prepare()).toEqual(DOUBTED)
    stage.ledger.close()
    expect(await prepare()).toEqual(FINAL)
  })

  test('comes with questions to both endpoints, and a broken one does not change what is prepared', async () => {
    const second = await startRpcServer(() => 'cut')
    const chain = stage.chainAt(stage.ledger.url, second.url)
    expect((await chain.prepare(callOfNew(), accountWith())).kind).toBe('ok')
    expect(second.requests).not.toEqual([])
    await second.stop()
  })
})
