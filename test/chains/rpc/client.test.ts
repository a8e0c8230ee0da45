import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { NODE_DIALECT } from '../../../src/chains/evm/read/node-dialect.ts'
import { createRpcClient } from '../../../src/chains/rpc/client.ts'
import type { PooledClient } from '../../../src/chains/rpc/rpc.ts'
import { httpTransport } from '../../../src/chains/rpc/transport.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createLogger } from '../../../src/log.ts'
import { createGuardedHttpClient } from '../../../src/security/guarded-http-client.ts'
import { createHurriedClock } from '../../support/clock.ts'
import {
  answerWith,
  type RpcServer,
  startRpcServer,
  type WireAnswer,
  type WireCall,
} from '../../support/rpc-server.ts'

describe('a client of one endpoint', () => {
  const log = createLogger({ level: 'silent' })
  /** Paid in full by each test with an endpoint that is silent; long enough for the others on a busy machine. */
  const TIMEOUT_MS = 1_000
  const running: RpcServer[] = []

  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()))
  })

  async function serve(answer: (calls: readonly WireCall[]) => WireAnswer): Promise<RpcServer> {
    const server = await startRpcServer(answer)
    running.push(server)
    return server
  }

  /** The endpoints in this order: the draw always falls on the first that may be asked. */
  function clientOf(...servers: readonly RpcServer[]): PooledClient {
    const urls = servers.map(({ url }) => ({ url, weight: 100 }))
    return createRpcClient({
      urls,
      timeoutMs: TIMEOUT_MS,
      clock: createHurriedClock(),
      random: () => 0,
      log,
      ...NODE_DIALECT,
    })
  }

  const call = (method: string) => ({ method, params: [] })
  const echo = ({ id, method }: WireCall) => ({ jsonrpc: '2.0', id, result: method })
  const calls = ['a', 'b', 'c'].map(call)
  const results = ['a', 'b', 'c'].map((result) => ({ kind: 'result', result }))

  test.each(['send', 'forward'] as const)(
    'a connection that the server closed under a request (%s) costs a new one, and is no failure of the endpoint',
    async (how) => {
      let asked = 0
      const failures: unknown[] = []
      const server = await serve(([first]) => {
        asked += 1
        return asked === 2 || first === undefined ? 'cut' : { body: echo(first) }
      })
      const client = createRpcClient({
        urls: [{ url: server.url, weight: 100 }],
        timeoutMs: TIMEOUT_MS,
        clock: createHurriedClock(),
        log,
        observer: { asked: ({ failure }) => failures.push(failure) },
        ...NODE_DIALECT,
      })
      await client[how]([call('a')])
      expect(await client[how]([call('b')])).toEqual([results[1]])
      expect(server.requests.map(([first]) => first?.method)).toEqual(['a', 'b', 'b'])
      expect(failures).toEqual([undefined, undefined])
    },
  )

  describe('a batch', () => {
    test('goes in one HTTP request, and the replies may come in any order', async () => {
      const server = await serve((asked) => ({ body: asked.map(echo).reverse() }))
      expect(await clientOf(server).send(calls)).toEqual(results)
      expect(server.requests.map((asked) => asked.length)).toEqual([3])
    })

    test('with entries missing leaves those unknown and keeps the rest', async () => {
      const server = await serve((asked) => ({
        body: asked.filter(({ method }) => method !== 'b').map(echo),
      }))
      const replies = await clientOf(server).send(calls)
      expect(replies.map((reply) => reply.kind)).toEqual(['result', 'unknown', 'result'])
    })

    test('keeps an error of one call, with its data, apart from the results of the others', async () => {
      const error = { code: 3, message: 'execution reverted', data: '0x08c379a0' }
      const server = await serve((asked) => ({
        body: asked.map((entry) =>
          entry.method === 'b' ? { jsonrpc: '2.0', id: entry.id, error } : echo(entry),
        ),
      }))
      const [a, b, c] = await clientOf(server).send(calls)
      expect([a, c]).toEqual([results[0], results[2]])
      expect(b).toEqual({ kind: 'error', ...error })
    })

    test('ignores replies without a request', async () => {
      const server = await serve((asked) => ({
        body: [{ id: 99, result: 'x' }, { id: '0', result: 'y' }, ...asked.map(echo)],
      }))
      expect(await clientOf(server).send(calls)).toEqual(results)
    })

    test('of more than 100 calls becomes several HTTP requests, in order', async () => {
      const server = await serve((asked) => ({
        body: asked.length === 1 ? asked.map(echo)[0] : asked.map(echo),
      }))
      const many = Array.from({ length: 201 }, (_, index) => call(`m${index}`))
      const replies = await clientOf(server).send(many)
      expect(replies).toEqual(many.map(({ method }) => ({ kind: 'result', result: method })))
      expect(server.requests.map((asked) => asked.length)).toEqual([100, 100, 1])
    })

    test('of no calls sends no request', async () => {
      const server = await serve(() => 'silent')
      expect(await clientOf(server).send([])).toEqual([])
      expect(server.requests).toEqual([])
    })

    test('is made of single calls of the same turn of the event loop', async () => {
      const server = await serve((asked) => ({ body: asked.map(echo) }))
      const client = clientOf(server)
      expect(await Promise.all([client.call('a', []), client.call('b', []), client.call('c', [])])).toEqual(
        results,
      )
      expect(server.requests).toHaveLength(1)
    })
  })

  describe('null', () => {
    test('is a result, not a missing one', async () => {
      const server = await serve(answerWith({ eth_getTransactionReceipt: null }))
      expect(await clientOf(server).call('eth_getTransactionReceipt', [])).toEqual({
        kind: 'result',
        result: null,
      })
    })
  })

  /** Answers that say nothing about the calls: unknown, and the next endpoint is asked. */
  const SILENCES: readonly { name: string; answer: WireAnswer; detail: RegExp }[] = [
    { name: 'HTTP 429', answer: { status: 429, body: {} }, detail: /HTTP 429/ },
    { name: 'HTTP 500', answer: { status: 500, body: {} }, detail: /HTTP 500/ },
    { name: 'HTTP 503 with a page', answer: { status: 503, text: '<html>' }, detail: /HTTP 503/ },
    {
      name: 'HTTP 403 with an error page in JSON',
      answer: { status: 403, body: { message: 'forbidden' } },
      detail: /HTTP 403/,
    },
    { name: 'text', answer: { text: 'welcome' }, detail: /JSON/ },
    { name: 'an empty body', answer: { text: '' }, detail: /JSON/ },
    { name: 'half a body', answer: { text: '[{"id":0,"resu' }, detail: /JSON/ },
    { name: 'JSON that is no reply', answer: { body: 'ok' }, detail: /no reply/ },
    { name: 'an object without a result', answer: { body: {} }, detail: /no reply/ },
    {
      name: 'one error for the whole batch',
      answer: { body: { id: null, error: { code: -32005, message: 'slow down' } } },
      detail: /slow down/,
    },
    { name: 'nothing in time', answer: 'silent', detail: /in time/ },
  ]

  describe('an endpoint that does not answer', () => {
    test.each(SILENCES)('$name: unknown, never an error of the node', async ({ answer, detail }) => {
      const server = await serve(() => answer)
      for (const reply of await clientOf(server).send(calls)) {
        expect(reply).toEqual({ kind: 'unknown', detail: expect.stringMatching(detail) })
      }
    })

    test.each(SILENCES)('$name: the next url is asked for the same calls', async ({ answer }) => {
      const first = await serve(() => answer)
      const second = await serve((asked) => ({ body: asked.map(echo) }))
      expect(await clientOf(first, second).send(calls)).toEqual(results)
      expect(first.requests).toHaveLength(1)
      expect(second.requests).toHaveLength(1)
    })

    test('is asked last for a while, so that its time-out is paid once', async () => {
      const first = await serve(() => 'silent')
      const second = await serve((asked) => ({ body: asked.map(echo) }))
      const client = clientOf(first, second)
      await client.send(calls)
      expect(await client.send(calls)).toEqual(results)
      expect(first.requests).toHaveLength(1)
      expect(second.requests).toHaveLength(2)
    })

    test('is asked again when no other one is better', async () => {
      let healthy = false
      const only = await serve((asked) => (healthy ? { body: asked.map(echo) } : { status: 500, body: {} }))
      const client = clientOf(only)
      await client.send(calls)
      healthy = true
      expect(await client.send(calls)).toEqual(results)
    })

    test('that is not there at all is unknown, and its address is in no detail', async () => {
      const gone = await startRpcServer(() => 'silent')
      await gone.stop()
      const [reply] = await clientOf(gone).send([call('a')])
      expect(reply).toEqual({ kind: 'unknown', detail: 'the endpoint could not be reached (ECONNREFUSED)' })
    })

    test('a url of weight 0 is never asked', async () => {
      const server = await serve((asked) => ({ body: asked.map(echo) }))
      const client = createRpcClient({
        urls: [{ url: server.url, weight: 0 }],
        timeoutMs: TIMEOUT_MS,
        clock: createHurriedClock(),
        log,
        ...NODE_DIALECT,
      })
      expect(await client.send([call('a')])).toEqual([
        { kind: 'unknown', detail: 'no RPC url is configured' },
      ])
      expect(server.requests).toEqual([])
    })
  })

  const REVERT = { code: -32000, message: 'execution reverted: not yours', data: '0x08c379a0' }

  /** The reply to each call is this error. */
  const erring =
    (status: number, error: object, idOf: (id: number) => unknown = (id) => id) =>
    (asked: readonly WireCall[]): WireAnswer => {
      const replies = asked.map(({ id }) => ({ jsonrpc: '2.0', id: idOf(id), error }))
      return { status, body: replies.length === 1 ? replies[0] : replies }
    }

  describe('a JSON-RPC reply to the call in an HTTP error', () => {
    test.each([400, 404, 405, 418, 422, 500, 502, 503])('decides with HTTP %d', async (status) => {
      const first = await serve(erring(status, REVERT))
      const second = await serve((asked) => ({ body: asked.map(echo) }))
      const replies = await clientOf(first, second).send(calls)
      expect(replies).toEqual(calls.map(() => ({ kind: 'error', ...REVERT })))
      expect(second.requests).toEqual([])
    })

    test('that is a result decides as well, whatever the status', async () => {
      for (const status of [401, 403, 429, 500]) {
        const server = await serve((asked) => ({ status, body: asked.map(echo) }))
        expect(await clientOf(server).send(calls)).toEqual(results)
      }
    })

    test.each([
      {
        name: 'a key that is wrong',
        status: 401,
        error: { code: -32600, message: 'Must be authenticated!' },
      },
      { name: 'a bill', status: 402, error: { code: -32001, message: 'free tier is over' } },
      { name: 'a method of another plan', status: 403, error: { code: -32052, message: 'Forbidden' } },
      {
        name: 'a rate limit in any words',
        status: 429,
        error: { code: -32000, message: 'come back tomorrow' },
      },
    ])('about the access is none: $name', async ({ status, error }) => {
      const first = await serve(erring(status, error))
      const second = await serve((asked) => ({ body: asked.map(echo) }))
      expect(await clientOf(first, second).send(calls)).toEqual(results)
      const [reply] = await clientOf(first).send([call('a')])
      expect(reply).toEqual({ kind: 'unknown', detail: `the endpoint answered HTTP ${status}` })
    })

    test('that is a revert decides even there: the node has looked at the call', async () => {
      const server = await serve(erring(403, REVERT))
      expect(await clientOf(server).call('a', [])).toEqual({ kind: 'error', ...REVERT })
    })

    test('that names a rate limit is one', async () => {
      const first = await serve(erring(400, { code: -32005, message: 'limit exceeded' }))
      const second = await serve((asked) => ({ body: asked.map(echo) }))
      expect(await clientOf(first, second).send(calls)).toEqual(results)
    })

    test('to another id, or to some of the calls only, decides nothing', async () => {
      const other = await serve(erring(500, REVERT, () => 77))
      expect(await clientOf(other).call('a', [])).toMatchObject({
        kind: 'unknown',
        detail: 'the endpoint answered HTTP 500',
      })
      const half = await serve((asked) => ({ status: 500, body: asked.slice(1).map(echo) }))
      for (const reply of await clientOf(half).send(calls))
        expect(reply).toMatchObject({ kind: 'unknown', detail: 'the endpoint answered HTTP 500' })
    })
  })

  describe('an id that is echoed as text', () => {
    test('counts, of a result and of an error', async () => {
      const server = await serve((asked) => ({
        body: asked.map((one) => ({ ...echo(one), id: String(one.id) })),
      }))
      expect(await clientOf(server).send(calls)).toEqual(results)
      const failing = await serve(erring(200, REVERT, String))
      expect(await clientOf(failing).call('a', [])).toEqual({ kind: 'error', ...REVERT })
    })

    test.each(['', ' 0', '0x0', '00000000000', 'null'])('counts for nothing when it is "%s"', async (id) => {
      const server = await serve((asked) => ({ body: asked.map((one) => ({ ...echo(one), id })) }))
      expect(await clientOf(server).call('a', [])).toMatchObject({ kind: 'unknown' })
    })
  })

  test('an answer of the node itself is final: the next url is not asked for a nicer one', async () => {
    const first = await serve(answerWith({}))
    const second = await serve((asked) => ({ body: asked.map(echo) }))
    const reply = await clientOf(first, second).call('eth_nothing', [])
    expect(reply).toMatchObject({ kind: 'error', code: -32601 })
    expect(second.requests).toEqual([])
  })
})

const log = createLogger({ level: 'silent' })
const height = { call: { method: 'height', params: [] }, read: () => 0n }

async function start(answer: (calls: readonly WireCall[]) => WireAnswer) {
  const server = await startRpcServer(answer)
  onTestFinished(server.stop)
  return server
}

interface How {
  readonly allowPrivate?: boolean
  readonly wholeBodyBytes?: number
  readonly timeoutMs?: number
}

/** A client whose urls a caller chose. */
function clientOf(url: string, { allowPrivate = true, wholeBodyBytes = 1_000, timeoutMs = 2_000 }: How = {}) {
  const httpClient = createGuardedHttpClient({ allowPrivate }, { wholeBodyBytes })
  onTestFinished(() => httpClient.close())
  return createRpcClient({
    errors: NODE_DIALECT.errors,
    maxRequestBytes: NODE_DIALECT.maxRequestBytes,
    urls: [{ url, weight: 100, untrusted: true }],
    guarded: httpTransport(httpClient),
    timeoutMs,
    clock: systemClock,
    log,
    height,
  })
}

test('an untrusted url is asked like any other, over one connection that is kept', async () => {
  const server = await start(answerWith({ one: '0x1', two: '0x2' }))
  const client = clientOf(server.url)
  expect(await client.call('one', [])).toEqual({ kind: 'result', result: '0x1' })
  expect(
    await client.send([
      { method: 'two', params: [] },
      { method: 'three', params: [] },
    ]),
  ).toEqual([{ kind: 'result', result: '0x2' }, expect.objectContaining({ kind: 'error', code: -32601 })])
  expect([server.requests.length, server.connections]).toEqual([2, 1])
})

test.each(['127.0.0.1', 'localhost'])(
  'an untrusted url on this machine, written as %s, is not asked',
  async (host) => {
    const server = await start(answerWith({ one: '0x1' }))
    const client = clientOf(server.url.replace('127.0.0.1', host), { allowPrivate: false })
    expect(await client.call('one', [])).toEqual({
      kind: 'unknown',
      detail: `${host} is in a private network`,
    })
    expect(server.connections).toBe(0)
  },
)

test('a redirect of an untrusted url is not followed', async () => {
  const target = await start(answerWith({ one: '0x1' }))
  const server = await start(() => ({ status: 307, headers: { location: target.url }, text: '' }))
  expect(await clientOf(server.url).call('one', [])).toMatchObject({ kind: 'unknown' })
  expect(server.requests.length).toBeGreaterThan(0)
  expect(target.connections).toBe(0)
})

test('an untrusted url may answer as much as is read and not a byte more', async () => {
  const reply = (length: number) => ({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(length) })
  const frame = JSON.stringify(reply(0)).length
  const limit = 500
  for (const [length, kind] of [
    [limit - frame, 'result'],
    [limit - frame + 1, 'unknown'],
  ] as const) {
    const server = await start(([call]) => ({ body: { ...reply(length), id: call?.id } }))
    const answer = await clientOf(server.url, { wholeBodyBytes: limit }).call('one', [])
    expect([length, answer.kind]).toEqual([length, kind])
  }
})

test('an untrusted url that never ends its answer times out, and the detail tells it', async () => {
  const server = await start(() => 'silent')
  expect(await clientOf(server.url, { timeoutMs: 200 }).call('one', [])).toEqual({
    kind: 'unknown',
    detail: 'the endpoint did not answer in time',
  })
})

test('an untrusted url is not asked at all without a guarded client', async () => {
  const server = await start(answerWith({ one: '0x1' }))
  const urls = [{ url: server.url, weight: 100, untrusted: true as const }]
  const client = createRpcClient({
    errors: NODE_DIALECT.errors,
    maxRequestBytes: NODE_DIALECT.maxRequestBytes,
    urls,
    timeoutMs: 1_000,
    clock: systemClock,
    log,
    height,
  })
  expect(await client.call('one', [])).toMatchObject({ kind: 'unknown' })
  expect(server.connections).toBe(0)
})

describe('a height without its block', () => {
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
    test('is known before anyone looks at the calls', async () => {
      const { client, asked } = await setUp('0x64')
      const replies = await client.sendAsOf(CALLS, 100n)
      expect(replies).toEqual(
        ['a', 'b'].map((result) => ({ reply: { kind: 'result', result }, behind: false, head: 100n })),
      )
      expect(asked()).toEqual([['eth_blockNumber'], ['a', 'b']])
    })

    test('that is too low makes the answers come from behind', async () => {
      const { client } = await setUp('0x63')
      const replies = await client.sendAsOf(CALLS, 100n)
      expect(replies.map(({ behind }) => behind)).toEqual([true, true])
    })

    test('that cannot be read leaves everything unknown', async () => {
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
})

describe('the outage of an endpoint', () => {
  const LIMITED: WireAnswer = { status: 429, text: '' }
  const echoed = ([first]: readonly WireCall[]): WireAnswer => ({
    body: { jsonrpc: '2.0', id: first?.id, result: first?.method },
  })

  /** A client of one endpoint, and what it has logged at level info and above. */
  async function setUp() {
    let answer: (calls: readonly WireCall[]) => WireAnswer = echoed
    const server = await startRpcServer((calls) => answer(calls))
    onTestFinished(() => server.stop())
    const told: string[] = []
    const log = createLogger({ level: 'info' }, { write: (line) => void told.push(JSON.parse(line).msg) })
    const clock = createHurriedClock()
    const urls = [{ url: server.url, weight: 100 }]
    const client = createRpcClient({ urls, timeoutMs: 1_000, clock, log, ...NODE_DIALECT })
    const ask = async (given: typeof answer) => {
      answer = given
      await client.call('a', [])
    }
    return { ask, told, clock }
  }

  test('is one line when it begins and one when it ends, however often the endpoint fails meanwhile', async () => {
    const { ask, told, clock } = await setUp()
    for (let failure = 0; failure < 20; failure += 1) {
      await ask(() => 'cut')
      clock.advance(1_000)
    }
    expect(told).toEqual(['RPC endpoint out of use'])
    clock.advance(300_000)
    await ask(echoed)
    await ask(echoed)
    expect(told).toEqual(['RPC endpoint out of use', 'RPC endpoint in use again'])
  })

  test('is told at most once a minute for an endpoint that comes and goes, and a later one is told again', async () => {
    const { ask, told, clock } = await setUp()
    for (let round = 0; round < 5; round += 1) {
      await ask(() => LIMITED)
      clock.advance(9_000)
      await ask(echoed)
    }
    expect(told).toEqual(['RPC endpoint out of use', 'RPC endpoint in use again'])
    clock.advance(60_000)
    await ask(() => LIMITED)
    expect(told).toHaveLength(3)
  })

  test('that follows another one closely is told when it lasts', async () => {
    const { ask, told, clock } = await setUp()
    await ask(() => LIMITED)
    clock.advance(9_000)
    await ask(echoed)
    for (let failure = 0; failure < 12; failure += 1) {
      await ask(() => LIMITED)
      clock.advance(9_000)
    }
    expect(told).toEqual(['RPC endpoint out of use', 'RPC endpoint in use again', 'RPC endpoint out of use'])
  })

  test('is not told for a request that fails once and is answered when it is asked again', async () => {
    const { ask, told } = await setUp()
    let isFirst = true
    await ask((calls) => {
      if (!isFirst) return echoed(calls)
      isFirst = false
      return { status: 500, text: '' }
    })
    expect(isFirst).toBe(false)
    expect(told).toEqual([])
  })
})
