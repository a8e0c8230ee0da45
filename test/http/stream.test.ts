import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { BEARER, startStub } from './stub-server.ts'

/** More than the buffers of a connection take, in pieces of this size. */
const PIECE = 'x'.repeat(65_536)
const MOST_PIECES = 1_000

test('a reader that does not read makes the source wait, and its end is the end of the source', async () => {
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
  const { port } = await startStub({ handlers: { streamEvents: async () => ({ stream: endless() }) } })
  const socket = connect(port, '127.0.0.1').pause()
  socket.write(`GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER}\r\n\r\n`)
  let before = -1
  await until(
    async () => {
      // Twice the same count, a while apart: it has come to rest.
      const rests = given > 0 && given === before
      before = given
      await new Promise((resolve) => setTimeout(resolve, 200))
      return rests
    },
    (rests) => rests,
  )
  expect(given).toBeLessThan(MOST_PIECES)
  expect(ended).toBe(false)
  socket.destroy()
  await until(
    async () => ended,
    (done) => done,
  )
})
