import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createEd25519Signer } from '../../src/signers/ed25519.ts'
import { createKey, createSeparateKey, separateSecret } from '../../src/signers/key.ts'

const SECRET = Uint8Array.from({ length: 32 }, (_, index) => index + 1)

test('a shared key has one ed25519 signer, and a separate key one for each network type', () => {
  const shared = createKey('a', SECRET)
  expect(shared.stellar).toBe(shared.stellar)
  expect(shared.solana).toBe(shared.stellar)
  expect(shared.stellar.publicKey).toEqual(createEd25519Signer('a', SECRET).publicKey)
  const separate = createSeparateKey('a', SECRET)
  for (const type of ['stellar', 'solana'] as const) {
    expect(separate[type]).toBe(separate[type])
    const { publicKey } = createEd25519Signer('a', separateSecret(SECRET, type))
    expect(separate[type].publicKey).toEqual(publicKey)
  }
})

test('a key has a copy of the secret, and an inspection shows nothing of it', () => {
  const secret = Uint8Array.from(SECRET)
  const key = createKey('a', secret)
  secret.fill(0)
  expect(key.stellar.publicKey).toEqual(createEd25519Signer('a', SECRET).publicKey)
  const shown = inspect(key, { depth: null, showHidden: true, getters: true })
  for (const text of ['1, 2, 3, 4', Buffer.from(SECRET).toString('hex')]) expect(shown).not.toContain(text)
  expect(JSON.stringify(key)).not.toMatch(/1,2,3,4|"0":1,"1":2/)
  expect(Object.isFrozen(key)).toBe(true)
})
