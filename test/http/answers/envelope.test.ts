import { describe, expect, test } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { call, startStub } from '../stub-server.ts'

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
