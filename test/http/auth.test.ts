import { describe, expect, test } from 'vitest'
import { API_KEY, ask, startSharedStub, startStub } from './stub-server.ts'

const { port } = await startSharedStub()

const REFUSED = [
  ['no header', undefined],
  ['an empty header', ''],
  ['another scheme', `Basic ${API_KEY}`],
  ['no token', 'Bearer'],
  ['only spaces after the scheme', 'Bearer   '],
  ['a wrong token', 'Bearer wrong-token-wrong-token-wrong-token'],
  ['a beginning of the token', `Bearer ${API_KEY.slice(0, -1)}`],
  ['the token and more', `Bearer ${API_KEY}x`],
  ['the scheme twice', `Bearer Bearer ${API_KEY}`],
  ['two tokens', `Bearer ${API_KEY} ${API_KEY}`],
  ['the token alone', API_KEY],
] as const

const ACCEPTED = [
  ['the usual form', `Bearer ${API_KEY}`],
  ['lower case', `bearer ${API_KEY}`],
  ['upper case', `BEARER ${API_KEY}`],
  ['two spaces', `Bearer  ${API_KEY}`],
] as const

const withAuthorization = (value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { authorization: value }

describe('authorization', () => {
  test.each(REFUSED)('%s is 401 with the failure body', async (_name, value) => {
    const reply = await ask(port, { path: '/api/v1/relayers', headers: withAuthorization(value) })
    expect(reply.status).toBe(401)
    expect(reply.headers['www-authenticate']).toBe('Bearer')
    expect(reply.json).toMatchObject({
      success: false,
      data: null,
      message: 'Unauthorized',
      code: 'unauthorized',
    })
  })

  test.each(ACCEPTED)('%s is accepted', async (_name, value) => {
    const reply = await ask(port, { path: '/api/v1/relayers', headers: withAuthorization(value) })
    expect(reply.status).toBe(200)
  })

  test('each of several keys is accepted', async () => {
    const keys = ['first-key-of-thirty-two-characters', 'second-key-of-thirty-two-character']
    const { port } = await startStub({ apiKeys: keys })
    for (const key of keys) {
      const reply = await ask(port, { path: '/api/v1/relayers', headers: withAuthorization(`Bearer ${key}`) })
      expect(reply.status).toBe(200)
    }
  })

  test.each([
    ['GET', '/api/v1/nothing'],
    ['GET', '/nothing'],
    ['PATCH', '/api/v1/relayers'],
    ['GET', '/api/v1/relayers?page=x'],
    ['POST', '/api/v1/relayers/r/sign'],
    ['GET', '/api/v1/healthXYZ'],
    ['GET', '/api/v1/relayers/%zz/transactions'],
  ])('an unauthenticated caller learns nothing from %s %s', async (method, path) => {
    const reply = await ask(port, { method, path })
    expect(reply.status).toBe(401)
    expect(reply.headers.allow).toBeUndefined()
  })

  test.each(['/api/v1/health', '/api/v1/ready', '/openapi.yaml', '/openapi.json', '/docs'])(
    '%s asks for no credential',
    async (path) => {
      const reply = await ask(port, { path })
      expect(reply.status).toBe(200)
    },
  )

  test('the server does not wait for the body of an unauthenticated caller', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '1000000' }
    const reply = await ask(port, {
      method: 'POST',
      path: '/api/v1/relayers/r/sign',
      headers: { ...headers, connection: 'close' },
      body: '{',
    }).catch((error: Error) => error)
    expect(reply).toMatchObject({ status: 401 })
  })
})
