import crypto, { createHash } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ANONYMOUS, type Principal } from '../../src/access/principal.ts'
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

const ROOT_KEYS = ['first-key-of-thirty-two-characters', 'second-key-of-thirty-two-character'] as const
const SECRET = `rlk_${'s'.repeat(43)}`

/** Names, tokens, and whether they are accepted. */
const TOKENS = [
  ['an unknown key', `rlk_${'u'.repeat(43)}`, false],
  ['a beginning of a key of the environment', 'first-key-of', false],
  ['a key of the environment with another last character', 'first-key-of-thirty-two-characterX', false],
  ['a key of the environment with another first character', 'Xirst-key-of-thirty-two-characters', false],
  ['the first key of the environment', ROOT_KEYS[0], true],
  ['the second key of the environment', ROOT_KEYS[1], true],
  ['a secret with another last character', `${SECRET.slice(0, -1)}X`, false],
  ['a secret', SECRET, true],
] as const

const APPLICATION: Principal = { ...ANONYMOUS, id: 'application', may: () => true }

const hashOf = (token: string) => createHash('sha256').update(token).digest()

/** Records the buffers that are compared in constant time, by the real function. */
function recordComparisons() {
  const spy = vi.spyOn(crypto, 'timingSafeEqual')
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
  return spy
}

test.each(TOKENS)(
  '%s is looked up by its hash alone, and compared with every key of the environment',
  async (_name, token, accepted) => {
    const asked: string[] = []
    const findKey = (secretHash: string) => {
      asked.push(secretHash)
      return secretHash === hashOf(SECRET).toString('hex') ? APPLICATION : undefined
    }
    const { port } = await startStub({ apiKeys: ROOT_KEYS, findKey })
    const comparisons = recordComparisons()
    const { status } = await ask(port, {
      path: '/api/v1/relayers',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(status).toBe(accepted ? 200 : 401)
    expect(asked).toEqual([hashOf(token).toString('hex')])
    expect(comparisons.mock.calls).toEqual(ROOT_KEYS.map((key) => [hashOf(key), hashOf(token)]))
  },
)
