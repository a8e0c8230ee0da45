import { describe, expect, test } from 'vitest'
import { ask, call, startSharedStub } from './stub-server.ts'

const { port } = await startSharedStub()

const METHODS = [
  ['/api/v1/health', 'GET, HEAD, OPTIONS'],
  ['/api/v1/ready', 'GET, HEAD, OPTIONS'],
  ['/api/v1/relayers', 'GET, POST, HEAD, OPTIONS'],
  ['/api/v1/relayers/r/sign', 'POST, OPTIONS'],
  ['/api/v1/relayers/r/transactions', 'GET, POST, HEAD, OPTIONS'],
  ['/api/v1/relayers/r/transactions/t', 'GET, PUT, DELETE, HEAD, OPTIONS'],
  ['/api/v1/relayers/r/transactions/pending', 'DELETE, OPTIONS'],
  ['/api/v1/notifications', 'GET, POST, HEAD, OPTIONS'],
  ['/docs', 'GET, HEAD, OPTIONS'],
  ['/openapi.json', 'GET, HEAD, OPTIONS'],
] as const

describe('methods', () => {
  test.each(METHODS)('OPTIONS %s is 204 with Allow: %s', async (path, allow) => {
    const reply = await ask(port, { method: 'OPTIONS', path })
    expect([reply.status, reply.headers.allow, reply.text]).toEqual([204, allow, ''])
  })

  test.each(METHODS)('PATCH %s is 405 with Allow and the failure body', async (path, allow) => {
    const reply = await call(port, 'PATCH', path)
    expect([reply.status, reply.headers.allow]).toEqual([405, allow])
    expect(reply.json).toMatchObject({ success: false, data: null, code: 'method_not_allowed' })
  })

  test.each(METHODS.filter(([, allow]) => allow.includes('GET')))(
    'HEAD %s has the headers of GET and no body',
    async (path) => {
      const [head, get] = [await call(port, 'HEAD', path), await call(port, 'GET', path)]
      expect(head.status).toBe(200)
      expect(head.text).toBe('')
      expect(head.headers['content-type']).toBe(get.headers['content-type'])
      expect(head.headers['content-length']).toBe(get.headers['content-length'])
    },
  )

  test.each([
    '/api/v1/relayers/',
    '/api/v1/relayers/r/transactions/',
    '/api/v1/relayers/r/transactions/t/',
    '/api/v1/health/',
    '/docs/',
  ])('the slash at the end of %s is ignored', async (path) => {
    expect((await call(port, 'GET', path)).status).toBe(200)
  })

  test.each([
    '/api/v1',
    '/api/v1/relayer',
    '/api/v2/relayers',
    '/api/v1/relayers/r/transactions/t/u',
    '//api/v1/relayers',
    '/%2e%2e/etc',
  ])('%s is 404 with the failure body', async (path) => {
    const reply = await call(port, 'GET', path)
    expect(reply.status).toBe(404)
    expect(reply.json).toMatchObject({ success: false, data: null, message: 'Not found', code: 'not_found' })
  })

  test.each([
    ['/api/v1/relayers/%00/transactions', 'relayer_not_found'],
    ['/api/v1/relayers/%zz/transactions', 'relayer_not_found'],
    ['/api/v1/relayers/.a/transactions', 'relayer_not_found'],
    [`/api/v1/relayers/${'a'.repeat(101)}/transactions`, 'relayer_not_found'],
    ['/api/v1/relayers/r/transactions/%E2%82%AC', 'transaction_not_found'],
    ['/api/v1/relayers/r/transactions/..%2f..', 'transaction_not_found'],
  ])('%s cannot be an id: 404 %s', async (path, code) => {
    const reply = await call(port, 'GET', path)
    expect([reply.status, reply.json?.code]).toEqual([404, code])
  })
})
