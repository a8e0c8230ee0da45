import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { BEARER, startSharedStub } from './stub-server.ts'

const MIB = 1_048_576

const { port } = await startSharedStub()

interface Upload {
  readonly bytes: number
  readonly form: 'content-length' | 'chunked'
  readonly connection: 'close' | 'keep-alive'
  readonly authorization?: string
}

/** Sends a whole request before it reads anything, as many clients do, and gives the answer up to the end of the connection. */
async function upload({ bytes, form, connection, authorization = BEARER }: Upload): Promise<string> {
  const socket = connect(port, '127.0.0.1').pause()
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => {})
  const head = [
    'POST /api/v1/relayers/r/sign HTTP/1.1',
    'Host: x',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    `Connection: ${connection}`,
    form === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  for (let sent = 0; sent < bytes; sent += MIB) {
    const piece = 'x'.repeat(Math.min(MIB, bytes - sent))
    socket.write(form === 'chunked' ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece)
  }
  const { promise: written, resolve } = Promise.withResolvers<void>()
  socket.write(form === 'chunked' ? '0\r\n\r\n' : '', () => resolve())
  await Promise.race([written, failed])
  // On a kept connection a second request shows where the first answer ends.
  if (connection === 'keep-alive')
    socket.write('GET /api/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  return Promise.race([text(socket), failed])
}

describe.each(['content-length', 'chunked'] as const)('a body with %s that is too large', (form) => {
  test.each([MIB + 1, 4 * MIB, 16 * MIB])(
    'of %d bytes is answered with 400 after all of it was sent',
    async (bytes) => {
      const answer = await upload({ bytes, form, connection: 'close' })
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).toContain('"code":"body_too_large"')
    },
  )

  test('leaves the connection usable for the next request', async () => {
    const answer = await upload({ bytes: 16 * MIB, form, connection: 'keep-alive' })
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200'])
  })

  test('is answered with 401 when its sender has no key', async () => {
    const answer = await upload({ bytes: 4 * MIB, form, connection: 'close', authorization: 'Bearer no' })
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('ends with the connection when it goes on and on', async () => {
    const socket = connect(port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    // Writing to a closed connection is an error, and the purpose of this test.
    socket.on('error', () => {})
    const length = form === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${1024 * MIB}`
    socket.write(
      `POST /api/v1/relayers/r/sign HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`,
    )
    const answer = text(socket).catch(() => '')
    const piece = 'x'.repeat(MIB)
    for (let sent = 0; sent < 64 && !socket.destroyed; sent += 1) {
      const flushed = socket.write(form === 'chunked' ? `${MIB.toString(16)}\r\n${piece}\r\n` : piece)
      if (!flushed) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
    }
    await closed
    await answer
    expect(socket.bytesWritten).toBeLessThan(40 * MIB)
  })
})
