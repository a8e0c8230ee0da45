import { EventEmitter } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { bodyTooSlow, handlerTooSlow, startDeadline } from '../../src/http/deadline.ts'
import type { HttpContext } from '../../src/http/state.ts'
import { BEARER, call, rawExchange, startStub } from './stub-server.ts'

const HEAD = `POST /api/v1/relayers/r/sign HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER}\r\nContent-Type: application/json\r\n`

describe('limits', () => {
  test('headers without an end are answered, and the connection is closed', async () => {
    const { port } = await startStub({ limits: { headersTimeoutMs: 100 } })
    const answer = await rawExchange(port, 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"code":"request_too_slow"')
    expect(answer).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/)
  })

  test('a body that does not arrive is 400, and the connection is closed', async () => {
    const { port } = await startStub({ limits: { requestTimeoutMs: 100, keepAliveTimeoutMs: 50 } })
    const answer = await rawExchange(port, `${HEAD}Content-Length: 50\r\nConnection: close\r\n\r\n{"mess`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"code":"request_too_slow"')
  })

  test('a handler that takes too long is aborted, and the caller receives 500', async () => {
    let aborted = false
    const listRelayers = (_input: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<never>(() => {
        signal.addEventListener('abort', () => {
          aborted = true
        })
      })
    const { port } = await startStub({ handlers: { listRelayers }, limits: { requestTimeoutMs: 50 } })
    const reply = await call(port, 'GET', '/api/v1/relayers')
    expect([reply.status, reply.json?.code, aborted]).toEqual([500, 'request_timeout', true])
  })

  test('the caller learns of the time limit, even if the handler fails because of its abort', async () => {
    const listRelayers = (_input: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const { port } = await startStub({ handlers: { listRelayers }, limits: { requestTimeoutMs: 50 } })
    const reply = await call(port, 'GET', '/api/v1/relayers')
    expect([reply.status, reply.json?.code]).toEqual([500, 'request_timeout'])
  })

  test('the signal of the handler aborts when the caller disconnects', async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const listRelayers = (_input: unknown, { signal }: { signal: AbortSignal }) => {
      signal.addEventListener('abort', () => resolve())
      begin()
      return new Promise<never>(() => {})
    }
    const { port } = await startStub({ handlers: { listRelayers } })
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /api/v1/relayers HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER}\r\n\r\n`)
    await begun
    socket.destroy()
    await left
  })

  test('too many header bytes are 400 with the failure body', async () => {
    const { port } = await startStub({ limits: { headerBytes: 1000 } })
    const answer = await rawExchange(
      port,
      `GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(2000)}\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"code":"headers_too_large"')
  })

  test.each([
    'nonsense\r\n\r\n',
    'GET /api/v1/health HTTP/9.9\r\n\r\n',
    'GET /\u0000 HTTP/1.1\r\nHost: x\r\n\r\n',
  ])('bytes that are not HTTP (%j) are 400 with the failure body', async (text) => {
    const { port } = await startStub()
    const answer = await rawExchange(port, text)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"success":false,"data":null,"message":"Bad Request"')
  })

  test('a body that is cut off does not disturb the server', async () => {
    const { port, lines } = await startStub()
    const socket = connect(port, '127.0.0.1')
    socket.write(`${HEAD}Content-Length: 50\r\n\r\n{"mess`)
    await wait(50)
    socket.destroy()
    expect((await call(port, 'GET', '/api/v1/relayers')).status).toBe(200)
    expect(lines.filter((line) => Number(line.level) >= 50)).toEqual([])
  })
})

function request() {
  const res = new EventEmitter()
  return { context: { res } as unknown as HttpContext, close: () => void res.emit('close') }
}

test('the signal aborts when the connection closes', () => {
  const { context, close } = request()
  const { signal } = startDeadline(context, 60_000)
  expect(signal.aborted).toBe(false)
  close()
  expect(signal.aborted).toBe(true)
})

test('a signal that is first read after the end is aborted', () => {
  const { context, close } = request()
  const deadline = startDeadline(context, 60_000)
  expect(deadline.isOver).toBe(false)
  close()
  expect(deadline.isOver).toBe(true)
  expect(deadline.signal.aborted).toBe(true)
  expect(deadline.signal).toBe(deadline.signal)
})

test('a late request fails, and the work is told to stop', async () => {
  const { context, close } = request()
  const deadline = startDeadline(context, 1)
  const stopped = new Promise((resolve) => deadline.signal.addEventListener('abort', resolve))
  await expect(deadline.race(new Promise<never>(() => undefined), handlerTooSlow)).rejects.toMatchObject({
    code: 'request_timeout',
  })
  await stopped
  close()
})

test('work that begins after the time fails immediately, and its own failure is no unhandled one', async () => {
  const { context, close } = request()
  const deadline = startDeadline(context, 1)
  await expect(deadline.race(new Promise<never>(() => undefined), bodyTooSlow)).rejects.toMatchObject({
    code: 'request_too_slow',
  })
  await expect(deadline.race(Promise.reject(new Error('lost')), handlerTooSlow)).rejects.toMatchObject({
    code: 'request_timeout',
  })
  close()
})

test('the getter of the signal is shared, because one per request would keep the request in memory', () => {
  const { context, close } = request()
  const deadline = startDeadline(context, 60_000)
  expect(Object.hasOwn(deadline, 'signal')).toBe(false)
  close()
})
