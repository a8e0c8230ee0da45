import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { HandlerMap } from '../../src/contract/handler.ts'

import { until } from '../support/until.ts'
import { BEARER, call, startStub } from './stub-server.ts'

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

test('an answer to HEAD ends the stream that nobody will read', async () => {
  const { port, signals } = await startStreaming()
  expect((await call(port, 'HEAD', '/api/v1/events/stream')).status).toBe(200)
  await aborted(signals)
})
