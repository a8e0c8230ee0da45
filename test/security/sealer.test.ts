import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSealer, readSealingKey, UnsealError } from '../../src/security/sealer.ts'

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

  test('an error says nothing about the secret', () => {
    expect(new UnsealError('ops').message).not.toContain(SECRET)
  })
})

test.each([
  [randomBytes(32).toString('base64'), true],
  [randomBytes(31).toString('base64'), false],
  [randomBytes(33).toString('base64'), false],
  ['x'.repeat(44), false],
  ['', false],
])('%s as a key: %s', (text, good) => {
  expect(readSealingKey(text) !== undefined).toBe(good)
})
