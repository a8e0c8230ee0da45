import { afterEach, describe, expect, test } from 'vitest'
import { NODE_DIALECT } from '../../../src/chains/evm/read/node-dialect.ts'
import { createRpcClient } from '../../../src/chains/rpc/client.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { type RpcServer, startRpcServer, type WireAnswer, type WireCall } from '../../support/rpc-server.ts'

const log = createLogger({ level: 'silent' })
const TIMEOUT_MS = 5_000
const HEADERS = { 'retry-after': '2' }
const running: RpcServer[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

type Answer = (calls: readonly WireCall[]) => WireAnswer

/** Endpoints in this order, the first one drawn first; and a clock that makes no one wait. */
async function setUp(...answers: readonly Answer[]) {
  return setUpWith({ timeoutMs: TIMEOUT_MS }, ...answers)
}

async function setUpWith(
  {
    timeoutMs,
    maxRequestBytes = NODE_DIALECT.maxRequestBytes,
  }: { readonly timeoutMs: number; readonly maxRequestBytes?: number },
  ...answers: readonly Answer[]
) {
  const servers = await Promise.all(answers.map((answer) => startRpcServer(answer)))
  running.push(...servers)
  const clock = createHurriedClock()
  const urls = servers.map(({ url }) => ({ url, weight: 100 }))
  const client = createRpcClient({
    urls,
    timeoutMs,
    clock,
    random: () => 0,
    log,
    height: NODE_DIALECT.height,
    errors: NODE_DIALECT.errors,
    maxRequestBytes,
  })
  return { client, clock, servers, asked: () => servers.map(({ requests }) => requests.length) }
}

const call = (method: string) => ({ method, params: [] })
const result = (value: unknown) => ({ kind: 'result', result: value })

/** Answers each call with its method's name, the height with `head`. */
const serving =
  (head = 100): Answer =>
  (calls) => {
    const replies = calls.map(({ id, method }) => ({
      jsonrpc: '2.0',
      id,
      result: method === 'eth_blockNumber' ? `0x${head.toString(16)}` : method,
    }))
    return { body: replies.length === 1 ? replies[0] : replies }
  }

/** Answers with each of these in turn, the last one for ever. */
function inTurn(...answers: readonly Answer[]): Answer {
  let turn = 0
  return (calls) => {
    const answer = answers[Math.min(turn, answers.length - 1)]
    turn += 1
    return answer ? answer(calls) : 'cut'
  }
}

const saying =
  (answer: WireAnswer): Answer =>
  () =>
    answer

const failing = (code: number, message: string): Answer => {
  return (calls) => {
    const replies = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code, message } }))
    return { body: replies.length === 1 ? replies[0] : replies }
  }
}

describe('another try', () => {
  test.each([
    { name: 'HTTP 500', answer: saying({ status: 500, text: '' }) },
    { name: 'a broken connection', answer: saying('cut') },
    { name: 'half a body', answer: saying({ text: '{"id":0,' }) },
    { name: 'a failure in JSON', answer: failing(-32603, 'Internal error') },
    { name: 'a failure behind a proxy', answer: failing(-32000, 'upstream request failed') },
  ])('after $name the only endpoint is asked again, with growing pauses', async ({ answer }) => {
    const { client, clock, asked } = await setUp(inTurn(answer, answer, serving()))
    expect(await client.call('a', [])).toEqual(result('a'))
    expect(asked()).toEqual([3])
    expect(clock.waits).toHaveLength(2)
  })

  test('pauses have jitter within an exponential limit', async () => {
    const server = await startRpcServer(saying('cut'))
    running.push(server)
    const clock = createHurriedClock()
    const client = createRpcClient({
      urls: [{ url: server.url, weight: 1 }],
      timeoutMs: TIMEOUT_MS,
      clock,
      random: () => 0.75,
      log,
      ...NODE_DIALECT,
    })
    expect(await client.call('a', [])).toMatchObject({ kind: 'unknown' })
    expect(clock.waits).toEqual([75, 150])
  })

  test('a permanent failure is reported with the message of the node', async () => {
    const { client } = await setUp(failing(-32603, 'internal error'))
    expect(await client.call('a', [])).toEqual({ kind: 'error', code: -32603, message: 'internal error' })
  })

  test('goes to another endpoint first, and only with what is still open', async () => {
    const half: Answer = (calls) => ({ body: calls.slice(0, 1).map(({ id }) => ({ id, result: 'first' })) })
    const { client, servers, clock } = await setUp(half, serving())
    expect(await client.send(['a', 'b', 'c'].map(call))).toEqual(['first', 'b', 'c'].map(result))
    expect(servers[1]?.requests.map((calls) => calls.map(({ method }) => method))).toEqual([['b', 'c']])
    expect(clock.waits).toEqual([])
  })

  test('ends with the deadline of the whole question', async () => {
    let pass: (ms: number) => void = () => {}
    const { client, clock, asked } = await setUp(() => {
      pass(2 * TIMEOUT_MS)
      return 'cut'
    }, serving())
    pass = clock.advance
    expect(await client.call('a', [])).toMatchObject({ kind: 'unknown' })
    expect(asked()).toEqual([1, 0])
  })
})

describe('a rate limit', () => {
  const date = new Date(createHurriedClock().now() + 2_000).toUTCString()
  const LIMITS: readonly { name: string; answer: Answer; pauseMs: number }[] = [
    {
      name: 'HTTP 429 with seconds',
      answer: saying({ status: 429, headers: HEADERS, text: '' }),
      pauseMs: 2_000,
    },
    {
      name: 'HTTP 429 with a date',
      answer: saying({ status: 429, headers: { 'retry-after': date }, text: '' }),
      pauseMs: 2_000,
    },
    { name: 'HTTP 429 alone', answer: saying({ status: 429, text: 'slow down' }), pauseMs: 1_000 },
    {
      name: 'HTTP 503 with seconds',
      answer: saying({ status: 503, headers: HEADERS, text: '' }),
      pauseMs: 2_000,
    },
    { name: 'EIP-1474', answer: failing(-32005, 'limit exceeded'), pauseMs: 1_000 },
    { name: 'Alchemy', answer: failing(429, 'Your app has exceeded its compute units'), pauseMs: 1_000 },
    { name: 'a text', answer: failing(-32000, 'Too Many Requests'), pauseMs: 1_000 },
    {
      name: 'one error for a batch',
      answer: saying({ body: { id: null, error: { code: -32005, message: 'x' } } }),
      pauseMs: 1_000,
    },
  ]

  test.each(LIMITS)('$name: the only endpoint is left alone for $pauseMs ms', async ({ answer, pauseMs }) => {
    const { client, clock, asked } = await setUp(inTurn(answer, serving()))
    expect(await client.send(['a', 'b'].map(call))).toEqual([result('a'), result('b')])
    expect(asked()).toEqual([2])
    expect(clock.waits).toEqual([pauseMs])
  })

  test.each(LIMITS)('$name: another endpoint is asked immediately', async ({ answer }) => {
    const { client, clock, asked } = await setUp(answer, serving())
    expect(await client.send(['a', 'b'].map(call))).toEqual([result('a'), result('b')])
    await client.call('c', [])
    expect(asked()).toEqual([1, 2])
    expect(clock.waits).toEqual([])
  })

  test('that lasts longer than the deadline is unknown immediately, and no endpoint is asked meanwhile (R27)', async () => {
    const { client, clock, asked } = await setUp(
      inTurn(saying({ status: 429, headers: { 'retry-after': '120' }, text: '' }), serving()),
    )
    for (let time = 0; time < 5; time += 1) {
      expect(await client.call('a', [])).toMatchObject({ kind: 'unknown' })
    }
    expect(asked()).toEqual([1])
    clock.advance(120_000)
    expect(await client.call('a', [])).toEqual(result('a'))
  })

  test.each([
    { name: 'longer than a caller should wait', timeoutMs: TIMEOUT_MS, seconds: '3' },
    { name: 'as long as the whole question may take', timeoutMs: 500, seconds: '1' },
  ])('of a pause $name is unknown immediately', async ({ timeoutMs, seconds }) => {
    const limited = saying({ status: 429, headers: { 'retry-after': seconds }, text: '' })
    const { client, clock, asked } = await setUpWith({ timeoutMs }, inTurn(limited, serving()))
    expect(await client.call('a', [])).toMatchObject({ kind: 'unknown' })
    expect([asked(), clock.waits]).toEqual([[1], []])
  })

  test('that stays is unknown, never an error of the node', async () => {
    const { client } = await setUp(failing(-32005, 'limit exceeded'))
    expect(await client.call('a', [])).toEqual({ kind: 'unknown', detail: 'limit exceeded' })
  })
})

/** Endpoints that take batches of at most this many calls, each with words of its own. */
const upTo =
  (most: number, refusal: WireAnswer): Answer =>
  (calls) =>
    calls.length > most ? refusal : serving()(calls)

describe('an endpoint that refuses batches', () => {
  test.each([
    { name: 'HTTP 400', refusal: { status: 400, text: 'Bad Request' } },
    { name: 'HTTP 413', refusal: { status: 413, text: '' } },
    {
      name: 'an invalid request',
      refusal: { body: { id: null, error: { code: -32600, message: 'invalid' } } },
    },
    {
      name: 'words',
      refusal: { body: { id: null, error: { code: -32000, message: 'batch limit exceeded' } } },
    },
    { name: 'geth', refusal: { body: [{ id: 0, error: { code: -32600, message: 'batch too large' } }] } },
  ])('with $name is asked one by one, and that is remembered', async ({ refusal }) => {
    const { client, servers } = await setUp(upTo(1, refusal))
    const calls = ['a', 'b', 'c'].map(call)
    expect(await client.send(calls)).toEqual(['a', 'b', 'c'].map(result))
    expect(await client.send(calls)).toEqual(['a', 'b', 'c'].map(result))
    expect(servers[0]?.requests.map((asked) => asked.length)).toEqual([3, 1, 1, 1, 1, 1, 1])
    expect(client.states()).toMatchObject([{ healthy: true }])
  })

  test('above ten calls gets batches of ten, in order', async () => {
    const { client, servers } = await setUp(upTo(10, { status: 413, text: '' }))
    const methods = Array.from({ length: 25 }, (_, index) => `m${index}`)
    expect(await client.send(methods.map(call))).toEqual(methods.map(result))
    expect(servers[0]?.requests.map((asked) => asked.length)).toEqual([25, 10, 10, 5])
    expect(servers[0]?.requests.slice(1).flatMap((asked) => asked.map(({ method }) => method))).toEqual(
      methods,
    )
  })

  test('gets transactions one after the other, for the sake of their nonces, and reads side by side', async () => {
    const { client, servers } = await setUp(upTo(1, { status: 413, text: '' }))
    const calls = Array.from({ length: 25 }, (_, index) => call(`m${index}`))
    await client.send(calls)
    // A connection is free again a little after its answer: now and then the next request takes a second one.
    expect(servers[0]?.connections).toBeLessThanOrEqual(2)
    await client.sendAsOf(calls)
    expect(servers[0]?.connections).toBeGreaterThan(2)
  })

  test('counts as silent when it refuses single calls as well, and batches stay', async () => {
    const { client, servers } = await setUp(
      inTurn(...Array.from({ length: 6 }, () => saying({ status: 400, text: '' })), serving()),
    )
    await client.send(['a', 'b'].map(call))
    const before = servers[0]?.requests.length ?? 0
    await client.send(['a', 'b'].map(call))
    expect(servers[0]?.requests.slice(before).map((asked) => asked.length)).toEqual([2])
  })
})

describe('connections', () => {
  test('are kept: a hundred questions, one connection', async () => {
    const { client, servers } = await setUp(serving())
    for (let time = 0; time < 100; time += 1) await client.call('a', [])
    expect(servers[0]?.requests).toHaveLength(100)
    expect(servers[0]?.connections).toBe(1)
  })

  test('are kept after answers that are of no use, too: their bodies are read to the end', async () => {
    const { client, servers } = await setUp(saying({ status: 500, text: 'x'.repeat(10_000) }))
    for (let time = 0; time < 20; time += 1) await client.call('a', [])
    expect(servers[0]?.requests.length).toBeGreaterThanOrEqual(20)
    // The next question may come before the connection is free again: a second one then, never one for each.
    expect(servers[0]?.connections).toBeLessThanOrEqual(2)
  })
})

describe('an answer as of a block', () => {
  test('comes from an endpoint that has reached it, with the height in the same batch (R6)', async () => {
    const { client, servers, clock } = await setUp(serving(99), serving(100))
    const replies = await client.sendAsOf([call('a')], 100n)
    expect(replies).toEqual([{ reply: result('a'), behind: false, head: 100n }])
    expect(servers.map(({ requests }) => requests.map((calls) => calls.map(({ method }) => method)))).toEqual(
      [[['eth_blockNumber', 'a']], [['eth_blockNumber', 'a']]],
    )
    expect(clock.waits).toEqual([])
  })

  test('comes from there the next time, too: who lags is not asked first again', async () => {
    const { client, asked } = await setUp(serving(99), serving(100))
    await client.sendAsOf([call('a')], 100n)
    await client.call('b', [])
    expect(asked()).toEqual([1, 2])
  })

  test('is behind when no endpoint has reached it, and no endpoint is asked twice', async () => {
    const { client, asked } = await setUp(serving(98), serving(99))
    expect(await client.sendAsOf([call('a')], 100n)).toEqual([
      { reply: result('a'), behind: true, head: 99n },
    ])
    expect(asked()).toEqual([1, 1])
  })

  test('is behind when the endpoint does not tell its height', async () => {
    const { client } = await setUp((calls) => ({ body: calls.map(({ id }) => ({ id, result: null })) }))
    expect(await client.sendAsOf([call('a')], 1n)).toEqual([{ reply: result(null), behind: true }])
  })

  test('without a block refers to the highest block that an endpoint reported lately', async () => {
    const heads = { first: 100 }
    const { client, clock } = await setUp((calls) => serving(heads.first)(calls))
    await client.sendAsOf([call('a')])
    heads.first = 90
    expect(await client.sendAsOf([call('a')])).toMatchObject([{ behind: true }])
    // A chain that really was rolled back must not stop us for ever.
    clock.advance(60_000)
    expect(await client.sendAsOf([call('a')])).toMatchObject([{ behind: false }])
  })

  test('is asked for again, as far as it is open, of an endpoint that was only short of breath', async () => {
    const half: Answer = (calls) => ({
      body: calls.map(({ id, method }) =>
        method === 'b' ? { id, error: { code: -32005, message: 'limit exceeded' } } : { id, result: '0x64' },
      ),
    })
    const { client, servers } = await setUp(inTurn(half, serving()))
    const replies = await client.sendAsOf(['a', 'b'].map(call), 100n)
    expect(replies).toEqual(
      [result('0x64'), result('b')].map((reply) => ({ reply, behind: false, head: 100n })),
    )
    const [, again] = servers[0]?.requests ?? []
    expect(again?.map(({ method }) => method)).toEqual(['eth_blockNumber', 'b'])
  })

  test('asks for the height before everything else where batches are refused', async () => {
    const { client, servers } = await setUp(upTo(1, { status: 400, text: '' }))
    await client.sendAsOf(['a', 'b'].map(call), 100n)
    await client.sendAsOf(['a', 'b'].map(call), 100n)
    const single = servers[0]?.requests.slice(1).map(([first]) => first?.method) ?? []
    expect([single[0], single[3]]).toEqual(['eth_blockNumber', 'eth_blockNumber'])
  })

  test('shares its HTTP request with others of the same turn', async () => {
    const { client, servers } = await setUp(serving())
    const answers = await Promise.all([
      client.sendAsOf([call('a')], 100n),
      client.sendAsOf([call('b')], 100n),
    ])
    expect(answers.flat().map(({ reply }) => reply)).toEqual([result('a'), result('b')])
    expect(servers[0]?.requests.map((calls) => calls.length)).toEqual([3])
  })
})

describe('asking everywhere', () => {
  test('asks each endpoint once and keeps the answers apart', async () => {
    const { client } = await setUp(serving(100), serving(99), saying('cut'))
    expect(await client.sendEverywhere([call('a')], 100n)).toEqual([
      [{ reply: result('a'), behind: false, head: 100n }],
      [{ reply: result('a'), behind: true, head: 99n }],
      [{ reply: { kind: 'unknown', detail: expect.any(String) }, behind: true, unanswered: true }],
    ])
    expect(client.states().map(({ head }) => head)).toEqual([100n, 99n, undefined])
  })

  test('does not ask who rests, and takes that for unknown', async () => {
    const { client, asked } = await setUp(serving(), saying({ status: 429, text: '' }))
    await client.sendEverywhere([call('a')])
    expect(await client.sendEverywhere([call('a')])).toMatchObject([
      [{ reply: result('a'), behind: false }],
      [{ reply: { kind: 'unknown' }, behind: true }],
    ])
    expect(asked()).toEqual([2, 1])
  })
})

describe('calls of callers', () => {
  /** Answers and reactions of a node that a caller can provoke. */
  const PROVOKED = [
    { name: 'an unhealthy node', answer: failing(-32005, 'limit exceeded') },
    { name: 'a skipped slot', answer: failing(-32007, 'Slot 1 was skipped') },
    { name: 'a context slot in the future', answer: failing(-32016, 'Minimum context slot') },
    { name: 'echoed words', answer: failing(-32602, 'unknown method "too many requests"') },
    { name: 'an internal error', answer: failing(-32603, 'Internal error') },
    { name: 'HTTP 500', answer: saying({ status: 500, text: '' }) },
    { name: 'HTTP 413', answer: saying({ status: 413, text: '' }) },
    { name: 'HTTP 403', answer: saying({ status: 403, text: '' }) },
    { name: 'a closed connection', answer: saying('cut') },
    { name: 'an error page', answer: saying({ text: '<html>' }) },
  ]

  test.each(PROVOKED)('cannot make an endpoint rest by $name', async ({ answer }) => {
    const { client } = await setUp(answer)
    for (let times = 0; times < 8; times += 1) await client.forward([call('a')])
    expect(client.states()).toMatchObject([{ healthy: true }])
  })

  test('cannot make an endpoint rest by being slow', async () => {
    const { client } = await setUpWith({ timeoutMs: 20 }, saying('silent'))
    for (let times = 0; times < 4; times += 1) await client.forward([call('a')])
    expect(client.states()).toMatchObject([{ healthy: true }])
  })

  test('show a true limit, and an endpoint that cannot be reached', async () => {
    const limited = await setUp(saying({ status: 429, text: '' }))
    await limited.client.forward([call('a')])
    expect(limited.client.states()).toMatchObject([{ healthy: false }])
    const coded = await setUp(failing(429, 'Your app has exceeded its capacity'))
    expect(await coded.client.forward([call('a')])).toMatchObject([{ kind: 'unknown' }])
    expect(coded.client.states()).toMatchObject([{ healthy: false }])
    const gone = await setUp(serving())
    await gone.servers[0]?.stop()
    for (let times = 0; times < 3; times += 1) await gone.client.forward([call('a')])
    expect(gone.client.states()).toMatchObject([{ healthy: false }])
  })

  test('do not shrink the batches of our own questions', async () => {
    const { client, servers } = await setUp(upTo(2, { status: 400, text: '' }))
    await client.forward(['a', 'b', 'c'].map(call))
    const before = servers[0]?.requests.length ?? 0
    await client.send(['a', 'b', 'c'].map(call))
    expect(servers[0]?.requests[before]?.length).toBe(3)
  })

  test('do not heal an endpoint either, unless it answers them', async () => {
    const { client, clock } = await setUp(
      inTurn(
        saying({ status: 429, headers: { 'retry-after': '60' }, text: '' }),
        failing(-32000, 'no'),
        serving(),
      ),
    )
    await client.forward([call('a')])
    clock.advance(61_000)
    await client.forward([call('a')])
    expect(client.states()).toMatchObject([{ healthy: false }])
    expect(await client.forward([call('a')])).toEqual([result('a')])
    expect(client.states()).toMatchObject([{ healthy: true }])
  })

  test('are asked of another endpoint where one lacks the data', async () => {
    const { client, asked } = await setUp(failing(4444, 'pruned history unavailable'), serving())
    expect(await client.forward([call('a')])).toEqual([result('a')])
    expect(asked()).toEqual([1, 1])
  })
})

describe('a request', () => {
  const long = (method: string) => ({ method, params: ['x'.repeat(15_000)] })

  test('is cut by bytes as well, in order', async () => {
    const { client, servers } = await setUpWith({ timeoutMs: TIMEOUT_MS, maxRequestBytes: 40_000 }, serving())
    const methods = ['a', 'b', 'c', 'd', 'e']
    expect(await client.send(methods.map(long))).toEqual(methods.map(result))
    expect(servers[0]?.requests.map((asked) => asked.map(({ method }) => method).join(''))).toEqual([
      'ab',
      'cd',
      'e',
    ])
    expect(Math.max(...(servers[0]?.bodies.map((body) => body.length) ?? []))).toBeLessThan(40_000)
  })

  test('that is too long for the endpoint is halved by bytes, and that is remembered', async () => {
    const limit = 40_000
    const { client, servers } = await setUp((calls) =>
      JSON.stringify(calls).length > limit ? { status: 413, text: '' } : serving()(calls),
    )
    const methods = ['a', 'b', 'c', 'd']
    expect(await client.send(methods.map(long))).toEqual(methods.map(result))
    expect(await client.send(methods.map(long))).toEqual(methods.map(result))
    expect(servers[0]?.requests.map((asked) => asked.length)).toEqual([4, 2, 2, 2, 2])
    expect(client.states()).toMatchObject([{ healthy: true }])
  })
})

test('no url gets into an answer or a state that is shown: what fails is told without it', async () => {
  const { client, servers } = await setUp(saying('cut'))
  await servers[0]?.stop()
  const reply = await client.call('a', [])
  expect(JSON.stringify(reply)).not.toContain('127.0.0.1')
  expect(client.states()[0]?.lastError).not.toContain('127.0.0.1')
})

describe('a broadcast', () => {
  const refusing: Answer = ([call]) => ({ body: { id: call?.id, error: { code: -32000, message: 'no' } } })
  const refused = { reply: { kind: 'error', code: -32000, message: 'no' }, behind: false }

  test.each([
    ['broke the connection', 'cut', { ...refused, unanswered: true }],
    ['never answered', 'silent', { ...refused, unanswered: true }],
    ['answered HTTP 500', { status: 500, text: '' }, { ...refused, unanswered: true }],
    ['asked for a pause', { status: 429, text: '' }, refused],
  ] as const)('tells that an earlier endpoint %s', async (_case, answer, wanted) => {
    const { client } = await setUpWith({ timeoutMs: 300 }, () => answer, refusing)
    expect(await client.broadcast([call('a')])).toEqual([wanted])
  })

  test('tells nothing of an endpoint that could not be reached', async () => {
    const { client, servers } = await setUp(refusing, refusing)
    await servers[0]?.stop()
    running.splice(running.indexOf(servers[0] as RpcServer), 1)
    expect(await client.broadcast([call('a')])).toEqual([refused])
  })
})
