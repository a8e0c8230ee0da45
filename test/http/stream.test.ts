import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { BEARER, startStub } from './stub-server.ts'

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
  const { port } = await startStub({ handlers: { streamEvents: async () => ({ stream: endless() }) } })
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
