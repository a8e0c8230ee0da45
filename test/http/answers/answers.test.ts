import { describe, expect, test } from 'vitest'
import { loadContract, type Node } from '../../../src/contract/document.ts'
import { createValidator } from '../../../src/contract/validator.ts'
import { AppError, type ErrorCode, internalError, methodNotAllowed } from '../../../src/errors.ts'
import { STATUS_OF_CODE, toFailure } from '../../../src/http/answers/failure.ts'
import type { HandlerMap } from '../../../src/http/handler.ts'
import { ask, BEARER, call, startStub } from '../stub-server.ts'

const PAGINATION = { current_page: 1, per_page: 10, total_items: 1 }

describe('envelope', () => {
  test('a success has success and data, and no absent field', async () => {
    const { port } = await startStub()
    const reply = await call(port, 'POST', '/api/v1/relayers/r/sign', { message: '' })
    expect(Object.keys(reply.json ?? {})).toEqual(['success', 'data'])
    expect(reply.json?.success).toBe(true)
  })

  test('a list has pagination', async () => {
    const notification = {
      id: 'ops',
      type: 'webhook',
      url: 'https://example.com',
      has_signing_key: false,
    } as const
    const { port } = await startStub({
      handlers: { listNotifications: async () => ({ data: [notification], pagination: PAGINATION }) },
    })
    const reply = await call(port, 'GET', '/api/v1/notifications')
    expect(reply.json).toEqual({ success: true, data: [notification], pagination: PAGINATION })
  })

  test('logs appear as metadata', async () => {
    const data = { r: 'a'.repeat(64), s: 'b'.repeat(64), sig: 'c'.repeat(130), v: 28 }
    const { port } = await startStub({ handlers: { signMessage: async () => ({ data, logs: ['told'] }) } })
    const reply = await call(port, 'POST', '/api/v1/relayers/r/sign', { message: '' })
    expect(reply.json?.metadata).toEqual({ logs: [{ level: 'log', message: 'told' }], traces: [] })
  })

  test('integers beyond 2^53 leave as exact JSON integers', async () => {
    const relayer = {
      id: 'r',
      name: 'R',
      network: 'anvil',
      network_type: 'evm',
      address: '0x',
      signer_id: 's',
      paused: false,
      system_disabled: false,
      policies: { gas_price_cap: 2n ** 128n - 1n, min_balance: 1n },
    } as const
    const { port } = await startStub({
      handlers: { listRelayers: async () => ({ data: [relayer], pagination: PAGINATION }) },
    })
    const reply = await call(port, 'GET', '/api/v1/relayers')
    expect(reply.text).toContain('"gas_price_cap":340282366920938463463374607431768211455,"min_balance":1}')
  })

  test.each([
    ['comes whole', false],
    ['breaks the connection where a part fails, so that no one takes the beginning for the whole', true],
  ])('a text in parts %s', async (_what, fails) => {
    async function* parts() {
      yield 'a,b\r\n'
      if (fails) throw new Error('the database is gone')
      yield '1,2\r\n'
    }
    const { port } = await startStub({
      handlers: { exportTransactions: async () => ({ status: 200, body: parts(), contentType: 'text/csv' }) },
    })
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/reports/transactions`, {
      headers: { authorization: BEARER },
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv'])
    if (fails) await expect(response.text()).rejects.toThrow()
    else expect(await response.text()).toBe('a,b\r\n1,2\r\n')
  })

  test('an AppError has its status, code and sentence', async () => {
    const sign = async () => {
      throw new AppError('relayer_paused', 'An operator has paused this relayer.')
    }
    const { port } = await startStub({ handlers: { signMessage: sign } })
    const reply = await call(port, 'POST', '/api/v1/relayers/r/sign', { message: '' })
    expect(reply.status).toBe(400)
    expect(reply.json).toEqual({
      success: false,
      data: null,
      message: 'Bad Request',
      error: 'An operator has paused this relayer.',
      code: 'relayer_paused',
    })
  })

  test.each([
    new Error('the database password is hunter2'),
    'a string',
    null,
    undefined,
    { status: 418, expose: true, message: 'teapot' },
  ])(
    'an unexpected error (%s) is 500, reveals nothing, and is in the log under the request id',
    async (fault) => {
      const sign = async () => {
        throw fault
      }
      const { port, lines } = await startStub({ handlers: { signMessage: sign } })
      const reply = await call(port, 'POST', '/api/v1/relayers/r/sign', { message: '' })
      expect(reply.status).toBe(500)
      expect(reply.json).toMatchObject({
        success: false,
        data: null,
        message: 'Internal Server Error',
        code: 'internal_error',
      })
      expect(reply.text).not.toMatch(/hunter2|teapot|string/)
      const logged = lines.find((line) => line.msg === 'request failed')
      expect(logged).toMatchObject({ request_id: reply.headers['x-request-id'], operation: 'signMessage' })
    },
  )
})

describe('request id', () => {
  test.each(['abc', 'A.b_c:d-9', 'x'.repeat(128)])('%s is echoed and logged', async (id) => {
    const { port, lines } = await startStub()
    const reply = await callWithId(port, id)
    expect(reply.headers.get('x-request-id')).toBe(id)
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'request', request_id: id, operation: 'getHealth', status: 200 }),
    )
  })

  test.each(['', 'x'.repeat(129), 'two words', 'quote"', '{json}'])(
    '%s is replaced by a new one',
    async (id) => {
      const { port } = await startStub()
      const reply = await callWithId(port, id)
      expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})

function callWithId(port: number, id: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/api/v1/health`, { headers: { 'x-request-id': id } })
}

const { document } = await loadContract()

/** The contract describes each code in one row of a table. The description begins with the status, unless that is 400. */
function describedStatuses(): Record<string, number> {
  const { schemas } = document.components as { schemas: { ErrorCode: Node } }
  const rows = String(schemas.ErrorCode.description).matchAll(/^\| `(\w+)` \| (?:(\d{3})\. )?/gm)
  return Object.fromEntries([...rows].map(([, code, status]) => [code, Number(status ?? 400)]))
}

test('each code has the status that the contract describes', () => {
  expect(STATUS_OF_CODE).toEqual(describedStatuses())
})

const HEADERS: [AppError, Record<string, string>][] = [
  [new AppError('unauthorized', 'Send a key.'), { 'WWW-Authenticate': 'Bearer' }],
  [new AppError('rate_limited', 'Wait.', { retryAfterSeconds: 3 }), { 'Retry-After': '3' }],
  [methodNotAllowed(['GET', 'HEAD']), { Allow: 'GET, HEAD' }],
  [new AppError('relayer_paused', 'It is paused.'), {}],
]

test.each(HEADERS)('%s has its headers', (error, headers) => {
  expect(toFailure(error).headers).toEqual(headers)
})

const MESSAGES: [ErrorCode, string][] = [
  ['invalid_request', 'Bad Request'],
  ['unauthorized', 'Unauthorized'],
  ['transaction_not_found', 'Not found'],
  ['rate_limited', 'Too Many Requests'],
  ['network_unavailable', 'Internal Server Error'],
]

test.each(MESSAGES)('the body of %s has the message of the interface: %s', (code, message) => {
  const { body } = toFailure(new AppError(code, 'A sentence.'))
  expect(body).toEqual({ success: false, data: null, message, error: 'A sentence.', code })
})

test('an internal error keeps its cause to itself', () => {
  const { body } = toFailure(internalError(new Error('the password is hunter2')))
  expect(JSON.stringify(body)).not.toContain('hunter2')
})

const SIGNATURE = { r: 'a'.repeat(64), s: 'b'.repeat(64), sig: 'c'.repeat(130), v: 27 }

/** The types forbid these answers, but a cast or a database driver can produce them. */
const WRONG: [name: string, data: object, mismatch: string][] = [
  [
    'a field too many',
    { ...SIGNATURE, extra: 1 },
    'response.data.extra: there is no such field here; known are r, s, sig, v, signature, public_key',
  ],
  ['a field too few', { r: SIGNATURE.r }, 'response.data.s: is required'],
  ['another type', { ...SIGNATURE, v: '27' }, 'response.data.v: expected an integer of at least 0'],
  ['another form', { ...SIGNATURE, r: '0x12' }, 'response.data.r: expected text that matches ^[0-9a-f]{64}$'],
]

test.each(WRONG)('%s is 500 for the caller and an error in the log', async (_name, data, mismatch) => {
  const sign = (async () => ({ data })) as unknown as HandlerMap['signMessage']
  const { port, lines } = await startStub({ handlers: { signMessage: sign } })
  const reply = await call(port, 'POST', '/api/v1/relayers/r/sign', { message: '' })
  expect([reply.status, reply.json?.code]).toEqual([500, 'internal_error'])
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 50, operation: 'signMessage', status: 200, mismatch }),
  )
})

test('a failure that the operation does not declare is a mismatch, too', async () => {
  const listNotifications = async () => {
    throw new AppError('rate_limited', 'Try again in 1 s.', { retryAfterSeconds: 1 })
  }
  const { port, lines } = await startStub({ handlers: { listNotifications } })
  expect((await call(port, 'GET', '/api/v1/notifications')).status).toBe(500)
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 50, mismatch: 'the status 429 is not declared' }),
  )
})

test('a code that the status cannot have is a mismatch', async () => {
  const { response } = createValidator(await loadContract())
  const body = {
    success: false,
    data: null,
    message: 'Too Many Requests',
    error: 'No.',
    code: 'invalid_json',
  }
  expect(response('listRelayers', { status: 429, mediaType: 'application/json', body })).toBe(
    'response.code: expected exactly "rate_limited"',
  )
})

test('readiness answers 503 without the envelope, and a malformed body is a mismatch', async () => {
  const components = {
    database: { status: 'unhealthy' },
    networks: { status: 'healthy' },
    workers: { status: 'healthy' },
    relayers: { status: 'healthy' },
  } as const
  const body = {
    ready: false,
    status: 'unhealthy',
    components,
    timestamp: '2026-11-20T10:00:00.000Z',
  } as const
  const good = await startStub({ handlers: { getReadiness: async () => ({ status: 503, body }) } })
  expect(await ask(good.port, { path: '/api/v1/ready' })).toMatchObject({ status: 503, json: body })
  const bad = await startStub({
    handlers: { getReadiness: async () => ({ status: 503, body: { ...body, timestamp: 'now' } }) },
  })
  expect((await ask(bad.port, { path: '/api/v1/ready' })).status).toBe(500)
})
