import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { HandlerMap } from '../../src/contract/handler.ts'

import { createHttpServer } from '../../src/http/server.ts'
import { ask, BEARER, call, rawExchange, startStub, stubOptions } from './stub-server.ts'

/** The bucket holds one request and does not refill within a test. */
const ONE_REQUEST = { rateLimit: { perSecond: 0.001, burst: 1 } }

const SIGN = '/api/v1/relayers/r/sign'

/** The head of a request whose body never arrives: the server answers it only if it does not wait for the body. */
const WITHOUT_BODY = `POST ${SIGN} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n`

describe('the stages of an operation', () => {
  test('the rate limit counts a request before the credential is refused', async () => {
    const { port } = await startStub(ONE_REQUEST)
    expect((await ask(port, { method: 'POST', path: SIGN })).status).toBe(401)
    expect((await ask(port, { method: 'POST', path: SIGN })).status).toBe(429)
  })

  test('the credential is refused before the body is read', async () => {
    const { port } = await startStub()
    expect(await rawExchange(port, `${WITHOUT_BODY}\r\n`)).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('the rate limit refuses a request before the body is read', async () => {
    const { port } = await startStub(ONE_REQUEST)
    await call(port, 'GET', '/api/v1/relayers')
    const answer = await rawExchange(port, `${WITHOUT_BODY}Authorization: ${BEARER}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 429 /)
  })

  test('the body is read before the path is validated', async () => {
    const { port } = await startStub()
    const reply = await call(port, 'POST', '/api/v1/relayers/%00/sign', '{')
    expect([reply.status, reply.json?.code]).toEqual([400, 'invalid_json'])
  })

  test('the handler receives valid requests only', async () => {
    let calls = 0
    const sign: HandlerMap['signMessage'] = async () => {
      calls += 1
      throw new Error('called')
    }
    const { port } = await startStub({ handlers: { signMessage: sign } })
    expect((await call(port, 'POST', SIGN, { message: 1 })).status).toBe(400)
    expect(calls).toBe(0)
    expect((await call(port, 'POST', SIGN, { message: 'x' })).status).toBe(500)
    expect(calls).toBe(1)
  })
})

describe('paths outside the operations', () => {
  test.each([
    ['GET', '/api/v1/nothing', 404],
    ['GET', '/api/v1/%zz', 404],
    ['PUT', '/api/v1/relayers', 405],
  ])('%s %s: the rate limit and the credential come before %i', async (method, path, status) => {
    const { port } = await startStub(ONE_REQUEST)
    expect((await ask(port, { method, path })).status).toBe(401)
    expect((await ask(port, { method, path })).status).toBe(429)
    expect((await call(port, method, path)).status).toBe(status)
  })
})

describe('the transaction of a log line', () => {
  const linesOf = async (method: string, path: string, body?: unknown) => {
    const { port, lines } = await startStub()
    await call(port, method, path, body)
    return lines.filter(({ msg }) => msg === 'request')
  }

  test('is the one in the path', async () => {
    const [line] = await linesOf('GET', '/api/v1/relayers/r/transactions/t-7')
    expect(line).toMatchObject({ operation: 'getTransactionById', transaction: 't-7' })
  })

  test('is the one that the request created', async () => {
    const [line] = await linesOf('POST', '/api/v1/relayers/r/transactions', { value: 1 })
    expect(line).toMatchObject({ operation: 'sendTransaction', transaction: 't-1' })
  })

  test('is absent when the request created another record', async () => {
    const [line] = await linesOf('POST', '/api/v1/notifications', {
      id: 'ops',
      type: 'webhook',
      url: 'https://example.com',
    })
    expect(line).toMatchObject({ operation: 'createNotification', status: 201 })
    expect(line).not.toHaveProperty('transaction')
  })
})

test('an operation without a handler stops the start', async () => {
  const { handlers, ...options } = stubOptions()
  const { signMessage: _, ...others } = handlers
  const incomplete = createHttpServer({ ...options, handlers: others as HandlerMap })
  await expect(incomplete).rejects.toThrow('No handler for signMessage')
})

test('a body that arrives after the answer does no harm', async () => {
  const { port, lines } = await startStub()
  const socket = connect(port, '127.0.0.1')
  const received = new Promise((resolve) => socket.once('data', resolve))
  socket.write(`${WITHOUT_BODY}\r\n`)
  await received
  socket.end('{"late":1')
  expect((await call(port, 'GET', '/api/v1/relayers')).status).toBe(200)
  expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
})
