import crypto, { createHash } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test, vi } from 'vitest'
import { NOBODY, type Principal } from '../../src/access/principal.ts'
import { ask, startStub } from './stub-server.ts'

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

const APPLICATION: Principal = { ...NOBODY, id: 'application', may: () => true }

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
