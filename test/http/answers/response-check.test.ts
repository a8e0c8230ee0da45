import { expect, test } from 'vitest'
import { loadContract } from '../../../src/contract/document.ts'
import type { HandlerMap } from '../../../src/contract/handler.ts'

import { createValidator } from '../../../src/contract/validator.ts'
import { AppError } from '../../../src/errors.ts'
import { ask, call, startStub } from '../stub-server.ts'

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
