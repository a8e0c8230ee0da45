import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import { createHeadFeed } from '../../../src/chains/evm/read/heads.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createLogger } from '../../../src/log.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { startAnvil } from '../../support/anvil.ts'
import { createTestClock } from '../../support/clock.ts'
import { startRpcServer, type WireCall } from '../../support/rpc-server.ts'
import { until } from '../../support/until.ts'
import { startWebSocketServer } from '../../support/websocket-server.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../../transactions/fixture.ts'
import { SILENT_NETWORK } from '../../transactions/stub-chain.ts'

describe('the watch of heads', () => {
  const log = createLogger({ level: 'silent' })
  const HEAD = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: {} })
  const SUBSCRIBED = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' })
  const BLOCKTIME_MS = 1_000
  const holds = (look: () => Promise<boolean>) => until(look, (seen) => seen)
  const cleanUp: (() => unknown)[] = []

  afterEach(async () => {
    for (const task of cleanUp.splice(0).reverse()) await task()
  })

  /** A feed from these urls that counts what it tells, on a clock that the test moves or the machine's. */
  function listen(urls: readonly string[], clock = createTestClock()) {
    const told = { count: 0 }
    const feed = createHeadFeed({
      urls: urls.map((url) => ({ url, weight: 100 })),
      blocktimeMs: BLOCKTIME_MS,
      clock,
      log,
      random: () => 0.5,
      listener: () => {
        told.count += 1
      },
    })
    cleanUp.push(() => feed.stop())
    return { feed, clock, told }
  }

  async function serve(onText?: (answer: (text: string) => void) => void) {
    const server = await startWebSocketServer(onText)
    cleanUp.push(() => server.stop())
    return server
  }

  describe('with a real node', () => {
    test('each block is told', async () => {
      const anvil = await startAnvil({ args: ['--no-mining'] })
      cleanUp.push(() => anvil.stop())
      const told = { count: 0 }
      const feed = createHeadFeed({
        urls: [{ url: anvil.url.replace('http', 'ws'), weight: 1 }],
        blocktimeMs: 60_000,
        clock: systemClock,
        log,
        listener: () => {
          told.count += 1
        },
      })
      cleanUp.push(() => feed.stop())
      expect(feed.live).toBe(false)
      // The subscription is there as soon as a block is told of.
      await holds(async () => {
        await anvil.rpc('evm_mine')
        return feed.live
      })
      const before = Number(await anvil.rpc<string>('eth_blockNumber'))
      await holds(async () => told.count > 0)
      const seen = told.count
      await anvil.rpc('evm_mine')
      await anvil.rpc('evm_mine')
      await holds(async () => told.count >= seen + 2)
      expect(Number(await anvil.rpc<string>('eth_blockNumber'))).toBe(before + 2)
    })
  })

  describe('a feed', () => {
    test('without WebSocket urls is never live', () => {
      expect(listen([]).feed.live).toBe(false)
    })

    test('is live from its first head, and no longer when heads stay away', async () => {
      const server = await serve((answer) => answer(SUBSCRIBED))
      const { feed, clock, told } = listen([server.url])
      await holds(async () => server.connections === 1)
      await holds(async () => {
        server.say(HEAD)
        return told.count > 0
      })
      expect(feed.live).toBe(true)
      clock.advance(4 * BLOCKTIME_MS)
      expect(feed.live).toBe(false)
    })

    test('connects again after a broken connection, with a pause, to the next url', async () => {
      const first = await serve()
      const second = await serve()
      const { feed, clock } = listen([first.url, second.url])
      await holds(async () => first.connections === 1)
      first.cut()
      // The clock waits once for silence; then the pause before the next connection replaces that wait.
      await holds(async () => clock.waiting === 1 && !feed.live)
      expect(second.connections).toBe(0)
      await holds(async () => {
        clock.advance(250)
        return second.connections === 1
      })
      expect(first.connections).toBe(1)
    })

    test('goes to the next url when the subscription is refused', async () => {
      const refusing = await serve((answer) => answer('{"id":1,"error":{"code":-32601,"message":"no"}}'))
      const willing = await serve((answer) => answer(SUBSCRIBED))
      const { clock } = listen([refusing.url, willing.url])
      await holds(async () => {
        clock.advance(250)
        return willing.connections === 1
      })
    })

    test('gives up a connection that says nothing for a minute', async () => {
      const dead = await serve()
      const { clock } = listen([dead.url])
      await holds(async () => dead.connections === 1)
      await holds(async () => clock.waiting === 1)
      clock.advance(60_000)
      await holds(async () => {
        clock.advance(250)
        return dead.connections === 2
      })
    })

    test('is not shaken by what it does not understand', async () => {
      const server = await serve()
      const { told } = listen([server.url])
      await holds(async () => server.connections === 1)
      for (const text of ['', 'null', '[]', '{"method":5}', '7', 'x']) server.say(text)
      await holds(async () => {
        server.say(HEAD)
        return told.count > 0
      })
      expect(server.connections).toBe(1)
    })

    test('ends a connection with a message of more than 64 KiB, and goes to the next url', async () => {
      const flood = await serve((answer) => answer(`"${'x'.repeat(64 * 1024)}"`))
      const willing = await serve((answer) => answer(SUBSCRIBED))
      const { clock } = listen([flood.url, willing.url])
      await holds(async () => {
        clock.advance(250)
        return willing.connections === 1
      })
      expect(flood.connections).toBe(1)
    })

    test('that was stopped tells nothing more and does not come back', async () => {
      const server = await serve((answer) => answer(SUBSCRIBED))
      const { feed, clock, told } = listen([server.url])
      await holds(async () => server.connections === 1)
      feed.stop()
      server.say(HEAD)
      await holds(async () => clock.waiting === 0)
      clock.advance(60_000)
      expect(told.count).toBe(0)
      expect(server.connections).toBe(1)
    })
  })
})

describe('the cost of watching', () => {
  const BLOCKS = 10

  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture({ maxInFlight: 200 })
  })
  afterAll(() => fixture.close())

  /** A network whose blocks include nothing of ours; the test decides how high it is. */
  function network() {
    const state = { height: 100 }
    const block = () => ({ number: hex(state.height), hash: `0x${state.height}`, gasLimit: hex(30_000_000) })
    const results: Record<string, () => unknown> = {
      eth_blockNumber: () => hex(state.height),
      eth_getBlockByNumber: block,
      eth_getTransactionCount: () => hex(0),
      eth_getBalance: () => hex(10 ** 18),
      eth_gasPrice: () => hex(100),
      eth_maxPriorityFeePerGas: () => hex(1),
      eth_feeHistory: () => ({ baseFeePerGas: [hex(50), hex(50)], reward: [] }),
      eth_estimateGas: () => hex(21_000),
      eth_sendRawTransaction: () => `0x${'0'.repeat(64)}`,
    }
    const answer = (calls: readonly WireCall[]) => {
      const replies = calls.map(({ id, method }) => ({ id, result: results[method]?.() ?? null }))
      return { body: replies.length === 1 ? replies[0] : replies }
    }
    return { state, answer }
  }

  const hex = (value: number) => `0x${value.toString(16)}`

  /** The calls that watching `count` waiting transactions takes over some blocks, two looks at each, by method. */
  async function callsFor(count: number): Promise<Record<string, number>> {
    const { state, answer } = network()
    const server = await startRpcServer(answer)
    const rpcUrls = [{ url: server.url, weight: 100 }]
    const { clock, log } = fixture.context
    const chain = createEvmChain({ network: { ...SILENT_NETWORK, rpcUrls }, rpcTimeoutMs: 5_000, clock, log })
    const owner = await fixture.addAccount({ chain })
    const pending = Array.from({ length: count }, () => newTransaction(owner, { nextRunAt: new Date(0) }))
    await insert(fixture.context, ...pending)
    await workAccount(fixture.context, owner.relayer.id)
    const sent = server.requests.flat().filter(({ method }) => method === 'eth_sendRawTransaction')
    expect(sent).toHaveLength(count)

    const before = server.requests.length
    const memory = createWatchMemory()
    const target = { runtime: owner.runtime, relayers: [owner.relayer], memory }
    for (let block = 0; block < BLOCKS; block += 1) {
      state.height += 1
      await watchNetwork(fixture.context, target)
      await watchNetwork(fixture.context, target)
    }
    const methods = server.requests.slice(before).flatMap((calls) => calls.map(({ method }) => method))
    await server.stop()
    return Object.fromEntries(
      [...Map.groupBy(methods, (method) => method)].map(([name, all]) => [name, all.length]),
    )
  }

  test('watching costs by blocks and accounts, not by waiting transactions', async () => {
    const one = await callsFor(1)
    expect(one).toEqual({
      // Two looks at each block, each with its height, and one more height for the account.
      eth_getBlockByNumber: 2 * BLOCKS,
      eth_blockNumber: 3 * BLOCKS,
      eth_getTransactionCount: BLOCKS,
    })
    expect(await callsFor(100)).toEqual(one)
  })
})
