import { afterEach, describe, expect, test } from 'vitest'
import { createEvmChain } from '../../../../src/chains/evm/evm-chain.ts'
import { SETTLE_MS } from '../../../../src/chains/simulations.ts'
import { createLogger } from '../../../../src/log.ts'
import { createHurriedClock } from '../../../support/hurried-clock.ts'
import { type RpcServer, startRpcServer, type WireCall } from '../../../support/rpc-server.ts'
import { SILENT_NETWORK } from '../../../transactions/stub-chain.ts'
import { accountWith, requestOf } from '../build.ts'

const log = createLogger({ level: 'silent' })
const running: RpcServer[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

/** A node at a height that returns the same answer to every estimate of a call with data. */
interface Node {
  height: number
  estimate: string | Error | 'cut'
}

const REVERTS = new Error('execution reverted: no')
const CUT: Node = { height: 0, estimate: 'cut' }

function replyTo(node: Node, { id, method, params }: WireCall) {
  if (method === 'eth_blockNumber') return { id, result: `0x${node.height.toString(16)}` }
  if (method === 'eth_gasPrice') return { id, result: '0x5' }
  if (method === 'eth_getBlockByNumber') return { id, result: { gasLimit: '0x1c9c380' } }
  if (method !== 'eth_estimateGas') return { id, error: { code: -32601, message: 'method not found' } }
  const [{ data }] = params as [{ data: string }]
  const result = data === '0x' ? '0x5208' : node.estimate
  return result instanceof Error
    ? { id, error: { code: -32000, message: result.message } }
    : { id, result: result }
}

/** The chain of these nodes; the first is asked first. */
async function chainOf(...nodes: readonly Node[]) {
  const start = (node: Node) =>
    startRpcServer((calls) => {
      if (node.estimate === 'cut') return 'cut'
      const replies = calls.map((call) => replyTo(node, call))
      return { body: replies.length === 1 ? replies[0] : replies }
    })
  const servers = await Promise.all(nodes.map(start))
  running.push(...servers)
  const rpcUrls = servers.map(({ url }, index) => ({ url, weight: index === 0 ? 100 : 1e-9 }))
  const clock = createHurriedClock()
  const chain = createEvmChain({ network: { ...SILENT_NETWORK, rpcUrls }, rpcTimeoutMs: 5_000, clock, log })
  const estimates = servers.map(
    ({ requests }) =>
      () =>
        requests.flat().filter(({ method }) => method === 'eth_estimateGas').length,
  )
  return { prepare: () => chain.prepare(requestOf({ data: '0xff' }), accountWith()), estimates, clock }
}

const FINAL = { kind: 'refused', refusal: { code: 'execution_reverted', detail: expect.any(String) } }
const DOUBTED = { kind: 'refused', refusal: { ...FINAL.refusal, unanswered: true } }
const GOOD = { kind: 'ok', value: { draft: { gasLimit: 23_100n } } }

describe('an estimate that reverts on one of several endpoints', () => {
  test('does not count when another endpoint that is not behind estimates it', async () => {
    const { prepare } = await chainOf({ height: 95, estimate: REVERTS }, { height: 100, estimate: '0x5208' })
    expect(await prepare()).toMatchObject(GOOD)
  })

  test.each([
    { name: 'reverts as well', other: { height: 100, estimate: REVERTS } },
    { name: 'says so in words that nobody knows', other: { height: 100, estimate: new Error('no stars') } },
  ])('is final when the other $name', async ({ other }) => {
    const { prepare } = await chainOf({ height: 100, estimate: REVERTS }, other)
    expect(await prepare()).toEqual(FINAL)
  })

  test('is final 32 blocks later while the other is silent, and not before', async () => {
    const node: Node = { height: 100, estimate: REVERTS }
    const { prepare, clock } = await chainOf(node, CUT)
    expect(await prepare()).toEqual(DOUBTED)
    clock.advance(SETTLE_MS)
    node.height = 131
    expect(await prepare()).toEqual(DOUBTED)
    node.height = 132
    expect(await prepare()).toEqual(FINAL)
  })

  test('passes when the endpoint has come as far as the caller', async () => {
    const node: Node = { height: 100, estimate: REVERTS }
    const { prepare } = await chainOf(node, CUT)
    expect(await prepare()).toEqual(DOUBTED)
    Object.assign(node, { height: 101, estimate: '0x5208' })
    expect(await prepare()).toMatchObject(GOOD)
  })

  test('is final ten blocks later where it is the only endpoint, which may lag', async () => {
    const node: Node = { height: 100, estimate: REVERTS }
    const { prepare, clock } = await chainOf(node)
    expect(await prepare()).toEqual(DOUBTED)
    clock.advance(SETTLE_MS)
    node.height = 109
    expect(await prepare()).toEqual(DOUBTED)
    node.height = 110
    expect(await prepare()).toEqual(FINAL)
  })

  test('is not final after ten blocks of a second, which a replica behind one url may lag', async () => {
    const node: Node = { height: 100, estimate: REVERTS }
    const { prepare, clock } = await chainOf(node)
    expect(await prepare()).toEqual(DOUBTED)
    clock.advance(1_000)
    node.height = 110
    expect(await prepare()).toEqual(DOUBTED)
    clock.advance(SETTLE_MS)
    expect(await prepare()).toEqual(FINAL)
  })

  test.each([
    { name: 'an estimate', estimate: '0x5208', kind: 'ok' },
    // The transaction waits for funds in any case.
    { name: 'a lack of funds', estimate: new Error('insufficient funds for transfer'), kind: 'refused' },
  ])('is the only reason to ask another endpoint: $name is none', async ({ estimate, kind }) => {
    const { prepare, estimates } = await chainOf(
      { height: 100, estimate },
      { height: 100, estimate: '0x5208' },
    )
    expect((await prepare()).kind).toBe(kind)
    expect(estimates.map((count) => count())).toEqual([1, 0])
  })
})
