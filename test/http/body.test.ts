import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Input } from '../../src/contract/operations.ts'
import { ask, BEARER, call, startSharedStub, startStub } from './stub-server.ts'

const { port } = await startSharedStub()

const PATH = '/api/v1/relayers/r/sign'
const JSON_TYPE = 'application/json'

const post = (port: number, body: string | Buffer, headers: Record<string, string>) =>
  ask(port, { method: 'POST', path: PATH, headers: { authorization: BEARER, ...headers }, body })

describe('request body', () => {
  test.each([
    ['no body', '', 'invalid_json'],
    ['half a body', '{"message":', 'invalid_json'],
    ['a comment', '{"message":"x"} // no', 'invalid_json'],
    ['two values', '{"message":"x"}{}', 'invalid_json'],
    ['a control character in a string', '{"message":"\u0001"}', 'invalid_json'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_json'],
    ['half a surrogate pair', '{"message":"\\ud800"}', 'invalid_json'],
    ['an array', '["message"]', 'invalid_request'],
    ['another field', '{"message":"x","extra":1}', 'invalid_request'],
    ['__proto__', '{"message":"x","__proto__":{"admin":true}}', 'invalid_request'],
    ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, 'json_too_deep'],
    ['20,001 values', `[${'0,'.repeat(19_999)}0]`, 'json_too_many_values'],
    ['a hundred thousand levels', '['.repeat(100_000), 'json_too_deep'],
  ])('%s is 400', async (_name, body, code) => {
    const reply = await post(port, body, { 'content-type': JSON_TYPE })
    expect([reply.status, reply.json?.code]).toEqual([400, code])
    expect(reply.json).toMatchObject({ success: false, data: null, message: 'Bad Request' })
  })

  test.each([
    '',
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/jsonx',
    'nonsense',
    'application/merge-patch+json',
  ])('content type "%s" is 400', async (type) => {
    const reply = await post(port, '{"message":"x"}', type === '' ? {} : { 'content-type': type })
    expect([reply.status, reply.json?.code]).toEqual([400, 'unsupported_content_type'])
  })

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('content type "%s" is accepted', async (type) => {
    expect((await post(port, '{"message":"x"}', { 'content-type': type })).status).toBe(200)
  })

  test('a compressed body is refused before it is unpacked', async () => {
    const reply = await post(port, gzipSync('{"message":"x"}'), {
      'content-type': JSON_TYPE,
      'content-encoding': 'gzip',
    })
    expect([reply.status, reply.json?.code]).toEqual([400, 'unsupported_content_type'])
  })

  test('the largest body is accepted, one byte more is not, with and without a declared length', async () => {
    const { port } = await startStub({ limits: { bodyBytes: 100 } })
    const fitting = `{"message":"${'x'.repeat(100 - 14)}"}`
    expect(fitting).toHaveLength(100)
    expect((await call(port, 'POST', PATH, fitting)).status).toBe(200)
    const chunked = { 'content-type': JSON_TYPE, 'transfer-encoding': 'chunked' }
    expect((await post(port, fitting, chunked)).status).toBe(200)
    for (const headers of [{ 'content-type': JSON_TYPE }, chunked]) {
      const reply = await post(port, `${fitting} `, headers)
      expect([reply.status, reply.json?.code]).toEqual([400, 'body_too_large'])
    }
  })

  test('the handler sees exact integers, however they are written', async () => {
    const seen: Input<'sendTransaction'>['body'][] = []
    const { port } = await startStub({
      handlers: {
        sendTransaction: async ({ body }) => {
          seen.push(body)
          throw new Error('seen')
        },
      },
    })
    for (const value of [
      '340282366920938463463374607431768211455',
      '1000000000000000001',
      '1e3',
      '"7"',
      '0.0',
    ]) {
      await call(port, 'POST', '/api/v1/relayers/r/transactions', `{"value":${value}}`)
    }
    expect(seen.map((body) => 'value' in body && body.value)).toEqual([
      2n ** 128n - 1n,
      10n ** 18n + 1n,
      1000n,
      7n,
      0n,
    ])
  })

  test('a body that GET has no use for is ignored', async () => {
    const reply = await ask(port, {
      path: '/api/v1/relayers',
      headers: { authorization: BEARER, 'content-length': '3' },
      body: '{{{',
    })
    expect(reply.status).toBe(200)
  })
})

describe('a large body', async () => {
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
})
