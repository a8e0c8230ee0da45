import { createRequire } from 'node:module'
import fc from 'fast-check'
import { keccak256 as reference } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { keccak256, keccak256Hex } from '../../src/lib/hash.ts'
import { mapFields, slicesOf } from '../../src/lib/object.ts'
import { isMissingPackage } from '../../src/lib/package-files.ts'
import { suggest } from '../../src/lib/suggest.ts'

// 136 bytes are a block of this hash.
test.each([0, 1, 135, 136, 137, 272, 1_048_576])('the hash of %i bytes is that of viem', (length) => {
  const bytes = Buffer.alloc(length, 'relayer')
  expect(keccak256Hex(bytes)).toBe(reference(bytes))
  expect(keccak256(bytes)).toEqual(reference(bytes, 'bytes'))
})

test('a hash stays what it was when the next one is computed', () => {
  const first = keccak256(Buffer.from('first'))
  const copy = Uint8Array.from(first)
  keccak256(Buffer.from('second'))
  expect(first).toEqual(copy)
})

const same = (value: unknown) => value

test('fields are converted, and those that are undefined are left out', () => {
  const mapped = mapFields({ a: 1, b: undefined, c: null, d: 4 }, (value) => [value])
  expect(mapped).toStrictEqual({ a: [1], c: [null], d: [4] })
})

test('the given names decide about the fields and their order', () => {
  const mapped = mapFields({ a: 1, b: 2, c: 3 }, same, ['c', 'missing', 'a'])
  expect(Object.entries(mapped)).toEqual([
    ['c', 3],
    ['a', 1],
  ])
})

test('a field with the name __proto__ is a field, and changes no prototype', () => {
  const mapped = mapFields(JSON.parse('{"__proto__": {"admin": true}, "a": 1}'), same)
  expect(Object.keys(mapped)).toEqual(['__proto__', 'a'])
  expect(Object.getPrototypeOf(mapped)).toBe(Object.prototype)
  expect(mapped).not.toHaveProperty('admin')
  expect(JSON.stringify(mapped)).toBe('{"__proto__":{"admin":true},"a":1}')
})

const NONE = 'a-package-that-nobody-installs'

async function failureOf(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('nothing failed')
}

test('a package that is not installed is missing for import and for require', async () => {
  const require = createRequire(import.meta.url)
  expect(isMissingPackage(await failureOf(() => import.meta.resolve(`${NONE}/a.js`)), NONE)).toBe(true)
  expect(isMissingPackage(await failureOf(() => require.resolve(NONE)), NONE)).toBe(true)
  expect(isMissingPackage(await failureOf(() => require.resolve(`${NONE}/a.js`)), NONE)).toBe(true)
})

test.each([
  [
    'another package',
    Object.assign(new Error(`Cannot find package 'kysely' imported from x`), {
      code: 'ERR_MODULE_NOT_FOUND',
    }),
  ],
  [
    'a package whose name begins the same',
    Object.assign(new Error(`Cannot find package '${NONE}-too' imported from x`), {
      code: 'ERR_MODULE_NOT_FOUND',
    }),
  ],
  ['an error without a code', new Error(`Cannot find package '${NONE}'`)],
  ['nothing', undefined],
])('%s is not', (_, error) => {
  expect(isMissingPackage(error, NONE)).toBe(false)
})

test('a list is divided into slices that are full, except the last one', () => {
  expect(slicesOf(['a', 'b', 'c', 'd', 'e'], 2)).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  expect(slicesOf(['a', 'b'], 2)).toEqual([['a', 'b']])
  expect(slicesOf([], 2)).toEqual([])
})

test('nothing is lost, and no slice is too long or empty', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 7 }), (items, most) => {
      const slices = slicesOf(items, most)
      expect(slices.flat()).toEqual(items)
      for (const { length } of slices) expect(length > 0 && length <= most).toBe(true)
    }),
  )
})

describe('suggest', () => {
  test.each([
    ['serv', ' (did you mean "serve"?)'],
    ['sevre', ' (did you mean "serve"?)'],
    ['SERVE', ' (did you mean "serve"?)'],
    ['hleath', ' (did you mean "health"?)'],
    ['halt', ''],
    ['', ''],
  ])('answers %j with %j', (word, meant) => {
    expect(suggest(word, ['serve', 'health', 'migrate'])).toBe(meant)
  })

  test('compares no known word with one of a megabyte, which would take seconds', () => {
    const started = performance.now()
    expect(suggest('x'.repeat(1_000_000), ['value', 'gas_limit', 'max_priority_fee_per_gas'])).toBe('')
    expect(performance.now() - started).toBeLessThan(100)
  })
})
