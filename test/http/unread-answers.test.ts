import { connect, type Socket } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { ALL_RELAYERS, principalOf } from '../../src/access/principal.ts'
import type { StreamGroup } from '../../src/contract/operations.ts'
import { createAnswerBudget, UNREAD_BYTES } from '../../src/http/answers/answer-budget.ts'
import { sendEvents } from '../../src/http/answers/send-result.ts'
import type { HandlerMap } from '../../src/http/handler.ts'
import type { HttpContext } from '../../src/http/state.ts'
import { until } from '../support/until.ts'
import { ask, BEARER, call, startStub } from './stub-server.ts'

const MIB = 1024 * 1024
/** Two of these fit into a budget, and are more than the buffers of a connection by far; three do not fit. */
const LARGE = 'x'.repeat(15 * MIB)
const METRICS = '/api/v1/debug/metrics/scrape'

const OTHER_KEY = 'Bearer another-key-for-tests-of-32-chars'
const other = principalOf(
  'other',
  { scopes: ['metrics:read'], visibility: ALL_RELAYERS },
  new AbortController().signal,
)

/** A server whose metrics are large, and its callers. */
async function startLarge() {
  let built = 0
  const { port } = await startStub({
    handlers: {
      scrapeMetrics: async () => {
        built += 1
        return { status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body: LARGE }
      },
    },
    findKey: () => other,
  })
  const get = (authorization = BEARER, path = METRICS) => ask(port, { path, headers: { authorization } })
  const sockets: Socket[] = []
  const askAndNotRead = (authorization = BEARER) => {
    const socket = connect(port, '127.0.0.1').pause()
    socket.on('error', () => {})
    socket.write(`GET ${METRICS} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`)
    sockets.push(socket)
    onTestFinished(() => void socket.destroy())
  }
  return { get, askAndNotRead, sockets, built: () => built, port }
}

const statusOf = async ({ status }: Awaited<ReturnType<typeof ask>>) => status

test('what a key has not read is bounded: one more large answer is 429 until it is read', async () => {
  const { get, askAndNotRead, sockets, built, port } = await startLarge()
  for (let count = 0; count < 2; count += 1) askAndNotRead()
  await until(
    async () => built(),
    (count) => count === 2,
  )
  const refused = await until(
    () => get(),
    ({ status }) => status === 429,
  )
  expect(refused.json).toMatchObject({ success: false, code: 'rate_limited' })
  expect(refused.json?.error).toContain('are unread')
  expect(refused.headers['retry-after']).toBe('1')

  // No list is made for nothing; single records, what changes something, and other callers go on.
  expect(await statusOf(await get(BEARER, '/api/v1/relayers'))).toBe(429)
  expect(await statusOf(await get(BEARER, '/api/v1/relayers/r-1'))).toBe(200)
  const sent = await ask(port, {
    method: 'POST',
    path: '/api/v1/relayers/r-1/transactions',
    headers: { authorization: BEARER, 'content-type': 'application/json' },
    body: JSON.stringify({ to: `0x${'1'.repeat(40)}`, value: 1 }),
  })
  expect(sent.status).toBe(200)
  expect(await statusOf(await get(OTHER_KEY))).toBe(200)

  sockets[0]?.destroy()
  expect(
    (
      await until(
        () => get(),
        ({ status }) => status === 200,
      )
    ).text,
  ).toHaveLength(LARGE.length)
})

test('a caller that reads gets any number of large answers', async () => {
  const { get } = await startLarge()
  for (let count = 0; count < 4; count += 1) expect(await statusOf(await get())).toBe(200)
})

test('many unread answers at the same time are kept only as far as the budget holds', async () => {
  const { get, askAndNotRead, sockets, built } = await startLarge()
  for (let count = 0; count < 20; count += 1) askAndNotRead()
  await until(
    async () => built(),
    (count) => count >= 2,
  )
  expect(
    await statusOf(
      await until(
        () => get(),
        ({ status }) => status === 429,
      ),
    ),
  ).toBe(429)
  const answered = sockets.map(async (socket) => {
    const chunks: string[] = []
    for await (const chunk of socket.resume()) {
      chunks.push(String(chunk).slice(0, 40))
      break
    }
    return chunks[0]?.slice(0, 12)
  })
  const statuses = await Promise.all(answered)
  expect(statuses.filter((line) => line === 'HTTP/1.1 200').length).toBe(2)
  expect(statuses.filter((line) => line === 'HTTP/1.1 429').length).toBe(18)
})

/** The bytes that each page is expected to have. */
const EXPECTED_BYTES = 524_288

/** The answer to a reader, who takes pieces as the test says; `built` counts the pages that were made. */
function openStream(budget: ReturnType<typeof createAnswerBudget>, pageBytes: number) {
  const counted = { built: 0, taken: 0 }
  const data = 'y'.repeat(pageBytes)
  async function* pages(): AsyncGenerator<StreamGroup> {
    for (let number = 1; ; number += 1)
      yield {
        bytes: EXPECTED_BYTES,
        read: async () => {
          counted.built += 1
          return [{ kind: 'event', id: String(number), type: 't', data }]
        },
      }
  }
  const res = new PassThrough()
  const context = { res, set: () => {}, state: {}, req: { socket: {} } } as unknown as HttpContext
  sendEvents(context, { after: '0', stream: pages() }, budget.open('key'))
  const acknowledged: (() => void)[] = []
  const connection = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => {
      counted.taken += 1
      acknowledged.push(done)
    },
  })
  const body = context.body as NodeJS.ReadableStream
  body.pipe(connection)
  return {
    counted,
    /** The connection takes what it was given. */
    take: () => acknowledged.shift()?.(),
    leave: () => {
      res.destroy()
      ;(body as unknown as PassThrough).destroy()
    },
  }
}

/** Lets everything go on that waits for nothing but turns of the event loop. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await endOfTurn()
}

test('a reader that does not read costs one page', async () => {
  const budget = createAnswerBudget()
  const { counted, take, leave } = openStream(budget, 100_000)
  await rest()
  // The connection has the greeting, and has not taken it.
  expect([counted.taken, counted.built]).toEqual([1, 0])
  take()
  await rest()
  expect([counted.taken, counted.built]).toEqual([2, 1])
  expect(budget.unread('key')).toBeGreaterThan(80_000)
  expect(budget.unread('key')).toBeLessThan(110_000)
  take()
  await rest()
  expect([counted.taken, counted.built]).toEqual([3, 2])
  leave()
  await rest()
  expect(budget.unread('key')).toBe(0)
})

test('the pages of all readers of a key have one budget, and each reader has its turn', async () => {
  const budget = createAnswerBudget()
  const pageBytes = MIB
  const readers = Array.from({ length: 60 }, () => openStream(budget, pageBytes))
  for (const { take } of readers) take()
  await rest()
  for (const { take } of readers) take()
  await rest()
  const built = () => readers.reduce((sum, { counted }) => sum + counted.built, 0)
  const most = UNREAD_BYTES / 524_288 + 1
  expect(built()).toBeGreaterThan(10)
  expect(built()).toBeLessThanOrEqual(most)
  const hasAll = () => readers.every(({ counted }) => counted.built > 0)
  for (let round = 0; round < 20 && !hasAll(); round += 1) {
    for (const { take } of readers) take()
    await rest()
  }
  expect(hasAll()).toBe(true)
  for (const { leave } of readers) leave()
  await rest()
  expect(budget.unread('key')).toBe(0)
})

test('what changes something is refused at twice as many bytes, and an answer that is alone may have any size', () => {
  const budget = createAnswerBudget(1_000_000)
  const [first, second] = [budget.open('key'), budget.open('key')]
  expect(first.take(1_500_000)).toBe(true)
  expect(second.take(100_000)).toBe(false)
  expect(() => budget.admit('key', 'read')).toThrow('are unread')
  budget.admit('key', 'change')
  budget.admit('other', 'read')
  budget.open('key').hold(600_000)
  expect(() => budget.admit('key', 'change')).toThrow('are unread')
  first.close()
  first.close()
  first.hold(5_000_000)
  budget.admit('key', 'read')
})

test('no list is made while the last answer had no room and nothing was read', () => {
  const budget = createAnswerBudget(1_000_000)
  const [first, second, third] = [budget.open('key'), budget.open('key'), budget.open('key')]
  expect([first.take(600_000), second.take(300_000), third.take(300_000)]).toEqual([true, true, false])
  expect(() => budget.admit('key', 'list')).toThrow('are unread')
  budget.admit('key', 'read')
  second.release()
  budget.admit('key', 'list')
  expect(third.take(300_000)).toBe(true)
})

test('a few lists of a caller are made at one time, and those of another one do not wait', async () => {
  const made: string[] = []
  const { promise: all, resolve: end } = Promise.withResolvers<void>()
  const budget = createAnswerBudget()
  const make = (caller: string) =>
    budget.make(caller, async () => {
      made.push(caller)
      await all
    })
  const work = [...Array.from({ length: 10 }, () => make('key')), make('other')]
  await rest()
  expect(made).toEqual(['key', 'key', 'key', 'key', 'other'])
  end()
  await Promise.all(work)
  expect(made).toHaveLength(11)
})

const PIECE = 'x'.repeat(65_536)
/** This many pieces exceed the buffers of a connection by far. */
const MANY_PIECES = 1_000

test('the source waits for a reader that does not read, and ends when the reader disconnects', async () => {
  let given = 0
  let ended = false
  async function* endless() {
    try {
      for (;;) {
        given += 1
        yield [{ kind: 'event', id: String(given), type: 't', data: PIECE } as const]
      }
    } finally {
      ended = true
    }
  }
  const { port } = await startStub({
    handlers: { streamEvents: async () => ({ after: '0', stream: endless() }) },
  })
  const socket = connect(port, '127.0.0.1').pause()
  socket.write(`GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER}\r\n\r\n`)
  let before = -1
  await until(
    async () => {
      // An unchanged count after a pause shows that the source waits.
      const rests = given > 0 && given === before
      before = given
      await new Promise((resolve) => setTimeout(resolve, 200))
      return rests
    },
    (rests) => rests,
  )
  expect(given).toBeLessThan(MANY_PIECES)
  expect(ended).toBe(false)
  socket.destroy()
  await until(
    async () => ended,
    (done) => done,
  )
})

/** Serves a stream that ends with its signal, and gives the signals that the handler got. */
async function startStreaming(limits: { requestTimeoutMs?: number } = {}) {
  const signals: AbortSignal[] = []
  async function* open(signal: AbortSignal): AsyncGenerator<never[]> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
  const streamEvents: HandlerMap['streamEvents'] = async (_input, { signal }) => {
    signals.push(signal)
    return { after: '0', stream: open(signal) }
  }
  const { port } = await startStub({ handlers: { streamEvents }, limits })
  return { port, signals }
}

const aborted = (signals: readonly AbortSignal[]) =>
  until(
    async () => signals.map((signal) => signal.aborted),
    (states) => states.length > 0 && states.every(Boolean),
  )

test('the time limit of requests does not end a stream', async () => {
  const { port, signals } = await startStreaming({ requestTimeoutMs: 50 })
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER}\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  // Four times the limit.
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(signals.map((signal) => signal.aborted)).toEqual([false])
  socket.destroy()
  await aborted(signals)
})

test('an answer to HEAD ends the stream, which has no reader', async () => {
  const { port, signals } = await startStreaming()
  expect((await call(port, 'HEAD', '/api/v1/events/stream')).status).toBe(200)
  await aborted(signals)
})
