import { afterEach, describe, expect, test } from 'vitest'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { type RpcServer, startRpcServer, type WireAnswer, type WireCall } from '../../support/rpc-server.ts'
import { SILENT_NETWORK } from '../../transactions/stub-chain.ts'

const log = createLogger({ level: 'silent' })
const RAW = new Uint8Array([2, 248])
const running: RpcServer[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

type Answer = (calls: readonly WireCall[]) => WireAnswer

/** The chain of these endpoints; the first is asked first. */
async function setUp(...answers: readonly Answer[]) {
  const servers = await Promise.all(answers.map((answer) => startRpcServer(answer)))
  running.push(...servers)
  const clock = createHurriedClock()
  const rpcUrls = servers.map(({ url }, index) => ({
    url: `${url}/secret`,
    weight: index === 0 ? 100 : 1e-9,
  }))
  const chain = createEvmChain({ network: { ...SILENT_NETWORK, rpcUrls }, rpcTimeoutMs: 5_000, clock, log })
  return { chain, clock, servers }
}

/** Answers by method; a function sees the call. */
const answering =
  (replies: Readonly<Record<string, unknown>>): Answer =>
  (calls) => {
    const entries = calls.map(({ id, method }) => {
      const reply = replies[method]
      return reply instanceof Error
        ? { id, error: { code: -32000, message: reply.message } }
        : { id, result: reply ?? null }
    })
    return { body: entries.length === 1 ? entries[0] : entries }
  }

describe('broadcast', () => {
  test('a lost reply, then "nonce too low" for the same bytes: the nonce is used, never refused (R3)', async () => {
    const { chain, servers } = await setUp(
      () => 'cut',
      answering({ eth_sendRawTransaction: new Error('nonce too low: next nonce 1, tx nonce 0') }),
    )
    expect(await chain.broadcast([RAW])).toEqual([
      { kind: 'nonce_used', detail: 'nonce too low: next nonce 1, tx nonce 0' },
    ])
    const [first, second] = servers.map(({ requests }) => requests.flat().map(({ params }) => params))
    expect(first).toEqual(second)
  })

  test('a lost reply, then "already known" for the same bytes: accepted', async () => {
    let taken = false
    const node = answering({ eth_sendRawTransaction: new Error('already known') })
    const { chain } = await setUp((calls) => {
      if (taken) return node(calls)
      taken = true
      return 'cut'
    })
    expect(await chain.broadcast([RAW])).toEqual([{ kind: 'accepted', known: true }])
  })

  test('no answer from anyone is unknown (I6)', async () => {
    const { chain } = await setUp(
      () => 'cut',
      () => ({ status: 502, text: '' }),
    )
    expect(await chain.broadcast([RAW, RAW])).toMatchObject([{ kind: 'unknown' }, { kind: 'unknown' }])
  })
})

describe('verify', () => {
  const anvil = answering({ eth_chainId: '0x7a69' })
  const other = answering({ eth_chainId: '0x1' })
  const dead: Answer = () => 'cut'
  test.each([
    { name: 'the right chain', answers: [anvil], want: 'ok' },
    { name: 'another chain', answers: [other], want: 'refused' },
    { name: 'another chain at all endpoints', answers: [other, other, dead], want: 'refused' },
    { name: 'another chain at most endpoints', answers: [other, anvil, other], want: 'refused' },
    { name: 'another chain at one of two endpoints', answers: [anvil, other], want: 'ok' },
    { name: 'another chain at one of three endpoints', answers: [other, anvil, anvil], want: 'ok' },
    { name: 'another chain at the only one that answers', answers: [other, dead], want: 'unknown' },
    { name: 'one endpoint silent', answers: [dead, anvil], want: 'ok' },
    { name: 'all silent', answers: [dead, dead], want: 'unknown' },
    { name: 'nonsense', answers: [answering({ eth_chainId: 'mainnet' })], want: 'unknown' },
    { name: 'no endpoint', answers: [], want: 'unknown' },
  ])('$name: $want', async ({ answers, want }) => {
    const { chain } = await setUp(...answers)
    expect((await chain.verify()).kind).toBe(want)
  })

  test('refuses one endpoint of another chain before it is configured', async () => {
    const { chain } = await setUp(anvil, other, dead)
    expect((await chain.verify({ each: true })).kind).toBe('refused')
  })
})

describe('endpoints', () => {
  const at = (height: string) =>
    answering({ eth_blockNumber: height, eth_getBlockByNumber: { number: height, hash: '0xaa' } })

  test('tell each its height, also of those that are not asked otherwise, and no secret', async () => {
    const { chain, servers } = await setUp(at('0x64'), at('0x32'))
    await chain.head()
    await expect.poll(() => chain.endpoints().map(({ head }) => head)).toEqual([100n, 50n])
    expect(chain.endpoints()).toEqual(
      servers.map(({ url }, index) => ({
        host: new URL(url).host,
        maskedUrl: `${new URL(url).origin}/***`,
        healthy: true,
        head: index === 0 ? 100n : 50n,
      })),
    )
    const asked = servers[1]?.requests.length
    await chain.head()
    expect(servers[1]?.requests.length).toBe(asked)
  })

  test('that have no company are not asked for what the head tells anyway', async () => {
    const { chain, servers } = await setUp(at('0x64'))
    await chain.head()
    await chain.balance('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
    expect(servers[0]?.requests).toHaveLength(2)
  })

  test('a WebSocket url is not asked', async () => {
    const { servers } = await setUp(at('0x64'))
    const rpcUrls = [
      { url: 'ws://127.0.0.1:1', weight: 100 },
      { url: servers[0]?.url ?? '', weight: 1 },
    ]
    const clock = createHurriedClock()
    const chain = createEvmChain({ network: { ...SILENT_NETWORK, rpcUrls }, rpcTimeoutMs: 5_000, clock, log })
    expect(await chain.head()).toMatchObject({ kind: 'ok' })
    expect(chain.endpoints()).toHaveLength(1)
  })
})
