import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSealer, readSealingKey, UnsealError } from '../../src/security/secrets.ts'

const key = randomBytes(32)
const SECRET = 'a secret with é, 漢 and 🙂'

describe('createSealer', () => {
  const sealer = createSealer(key)

  test('gives back what was sealed, and seals differently each time', () => {
    const [one, other] = [sealer.seal(SECRET, 'ops'), sealer.seal(SECRET, 'ops')]
    expect([sealer.open(one, 'ops'), sealer.open(other, 'ops')]).toEqual([SECRET, SECRET])
    expect(Buffer.from(one).equals(Buffer.from(other))).toBe(false)
    expect(Buffer.from(one).includes(SECRET)).toBe(false)
  })

  test('does not open for another owner', () => {
    expect(() => sealer.open(sealer.seal(SECRET, 'ops'), 'other')).toThrow(UnsealError)
  })

  test('does not open with another key', () => {
    expect(() => createSealer(randomBytes(32)).open(sealer.seal(SECRET, 'ops'), 'ops')).toThrow(UnsealError)
  })

  test('does not open when any byte was changed, added or taken away', () => {
    const sealed = sealer.seal('short', 'ops')
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Uint8Array.from(sealed, (byte, at) => (at === index ? byte ^ 1 : byte))
      expect(() => sealer.open(changed, 'ops')).toThrow(UnsealError)
    }
    expect(() => sealer.open(sealed.slice(0, -1), 'ops')).toThrow(UnsealError)
    expect(() => sealer.open(Uint8Array.of(...sealed, 0), 'ops')).toThrow(UnsealError)
    expect(() => sealer.open(new Uint8Array(), 'ops')).toThrow(UnsealError)
  })

  test('an error names the owner and what to check, and says nothing about the secret', () => {
    const error = new UnsealError('ops')
    expect(error.name).toBe('UnsealError')
    expect(error.message).toBe(
      'The stored secret of ops cannot be decrypted: has STORAGE_ENCRYPTION_KEY changed?',
    )
  })

  test('opens an empty secret', () => {
    expect(sealer.open(sealer.seal('', 'ops'), 'ops')).toBe('')
  })

  test('needs a key of 32 bytes', () => {
    expect(() => createSealer(key.subarray(1))).toThrow('a sealing key has 32 bytes')
  })
})

test('32 bytes in base64 are a key', () => {
  const bytes = Buffer.alloc(32, 0xfb)
  expect(readSealingKey(bytes.toString('base64'))).toEqual(bytes)
})

test.each([
  ['31 bytes', Buffer.alloc(31, 0xfb).toString('base64')],
  ['33 bytes', Buffer.alloc(33, 0xfb).toString('base64')],
  ['32 bytes in base64url', Buffer.alloc(32, 0xfb).toString('base64url')],
  ['bits after the last byte', 'x'.repeat(44)],
  ['nothing', ''],
])('%s are no key', (_what, text) => {
  expect(readSealingKey(text)).toBeUndefined()
})
