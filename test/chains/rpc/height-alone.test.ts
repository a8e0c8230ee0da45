import { afterEach, describe, expect, test } from 'vitest'
import { NODE_DIALECT } from '../../../src/chains/evm/read/node-dialect.ts'
import { createRpcClient } from '../../../src/chains/rpc/client.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/hurried-clock.ts'
import { type RpcServer, startRpcServer } from '../../support/rpc-server.ts'

const running: RpcServer[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

/** A node at this height, and a client that asks for heights before it asks for anything else. */
async function setUp(height: unknown) {
  const server = await startRpcServer((calls) => {
    const replies = calls.map(({ id, method }) => ({
      jsonrpc: '2.0',
      id,
      result: method === 'eth_blockNumber' ? height : method,
    }))
    return { body: replies.length === 1 ? replies[0] : replies }
  })
  running.push(server)
  const client = createRpcClient({
    errors: NODE_DIALECT.errors,
    maxRequestBytes: NODE_DIALECT.maxRequestBytes,
    urls: [{ url: server.url, weight: 100 }],
    timeoutMs: 5_000,
    clock: createHurriedClock(),
    log: createLogger({ level: 'silent' }),
    height: { ...NODE_DIALECT.height, alone: true },
  })
  const asked = () => server.requests.map((calls) => calls.map(({ method }) => method))
  return { client, asked }
}

const CALLS = ['a', 'b'].map((method) => ({ method, params: { by: 'name' } }))

describe('a height that is asked for alone', () => {
  test('is known before anybody looks at the calls', async () => {
    const { client, asked } = await setUp('0x64')
    const replies = await client.sendAsOf(CALLS, 100n)
    expect(replies).toEqual(
      ['a', 'b'].map((result) => ({ reply: { kind: 'result', result }, behind: false })),
    )
    expect(asked()).toEqual([['eth_blockNumber'], ['a', 'b']])
  })

  test('that is too low makes the answers come from behind', async () => {
    const { client } = await setUp('0x63')
    const replies = await client.sendAsOf(CALLS, 100n)
    expect(replies.map(({ behind }) => behind)).toEqual([true, true])
  })

  test('that nobody can read leaves everything unknown', async () => {
    const { client, asked } = await setUp(null)
    const replies = await client.sendAsOf(CALLS, 100n)
    expect(replies.map(({ reply, behind }) => [reply.kind, behind])).toEqual([
      ['unknown', true],
      ['unknown', true],
    ])
    expect(asked().flat()).not.toContain('a')
  })

  test('is not asked for where no height is demanded', async () => {
    const { client, asked } = await setUp('0x64')
    await client.send(CALLS)
    expect(asked()).toEqual([['a', 'b']])
  })

  test('is all that is asked when there are no calls', async () => {
    const { client, asked } = await setUp('0x64')
    await client.sendEverywhere([])
    expect(asked()).toEqual([['eth_blockNumber']])
    expect(client.states()).toMatchObject([{ head: 100n }])
  })
})
