import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonError, parseJson, stringifyJson } from '../../src/contract/exact-integers.ts'
import { toInteger } from '../../src/lib/bigint.ts'

function accepts(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}

/** Numbers are what this parser reads otherwise. */
function withoutNumbers(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return 'a number'
  if (Array.isArray(value)) return value.map(withoutNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value).map(([key, field]) => [key, withoutNumbers(field)])
}

const READ: [text: string, value: unknown][] = [
  ['0', 0],
  ['1e3', 1000],
  ['1E+3', 1000],
  ['1.0', 1],
  ['10.00e1', 100],
  ['1200e-2', 12],
  ['0.0', 0],
  ['0e999999999', 0],
  ['1.5', 1.5],
  ['12e-1', 1.2],
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['-9007199254740993', -9007199254740993n],
  ['1000000000000000001', 1000000000000000001n],
  ['340282366920938463463374607431768211455', 2n ** 128n - 1n],
  ['1.000000000000000001e18', 1000000000000000001n],
  ['1e30', 10n ** 30n],
  ['1.0000000000000000001', Number.NaN],
  ['1e-400', Number.NaN],
  ['1e999999999', Number.POSITIVE_INFINITY],
  ['-1e401', Number.NEGATIVE_INFINITY],
  ['"1e3"', '1e3'],
  ['"9007199254740993"', '9007199254740993'],
  ['{"a":[9007199254740993,{"b":1e2}]}', { a: [9007199254740993n, { b: 100 }] }],
  ['{"a":1,"a":9007199254740993}', { a: 9007199254740993n }],
]

describe('parseJson', () => {
  test.each(READ)('reads %s', (text, value) => {
    expect(parseJson(text)).toEqual(value)
  })

  test.each([
    '',
    ' ',
    '{',
    '[1,]',
    '01',
    '+1',
    '.5',
    '1.',
    '0x1',
    'NaN',
    'Infinity',
    "'a'",
    '{"a":1}}',
    '"\u0000"',
  ])('refuses %j as no JSON', (text) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ problem: 'syntax' }))
  })

  test('counts the values, and commas in strings do not count', () => {
    expect(parseJson('{"a":[1,"x,y,[z",{}]}', { maxValues: 5 })).toEqual({ a: [1, 'x,y,[z', {}] })
    expect(() => parseJson('{"a":[1,"x,y,[z",{}]}', { maxValues: 4 })).toThrow(
      expect.objectContaining({ problem: 'values' }),
    )
  })

  test('refuses exactly what JSON.parse refuses, whatever stands beside a number', () => {
    const pieces = [
      '1e1',
      '-',
      '01',
      '.5',
      '1.0',
      '"',
      '\\',
      ',',
      ':',
      '[',
      ']',
      '{',
      '}',
      ' ',
      'a',
      '"a":',
      '9'.repeat(17),
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        expect(accepts(() => parseJson(text))).toBe(accepts(() => JSON.parse(text)))
      }),
      { numRuns: 5_000 },
    )
  })

  test('reads every other value like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const beside = parseJson(`[${text},1e1]`)
        expect(withoutNumbers(beside)).toEqual(withoutNumbers([JSON.parse(text), 10]))
      }),
    )
  })

  test.each(['"\\ud800"', '{"\\udc00":1}', '["\\uD83D\\uD83D"]'])(
    'refuses half a surrogate pair in %s',
    (text) => {
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ problem: 'surrogate' }))
    },
  )

  test('reads a whole surrogate pair', () => {
    expect(parseJson('"\\uD83D\\uDE00"')).toBe('\u{1F600}')
  })

  test('counts the nesting, and brackets in strings do not count', () => {
    expect(parseJson('[[["[[[\\"]]]"]]]', { maxDepth: 3 })).toEqual([[['[[["]]]']]])
    expect(() => parseJson('[[[1]]]', { maxDepth: 2 })).toThrow(JsonError)
    expect(() => parseJson('[{"a":[1]}]', { maxDepth: 2 })).toThrow(
      expect.objectContaining({ problem: 'depth' }),
    )
    expect(parseJson('[[],[],[]]', { maxDepth: 2 })).toEqual([[], [], []])
  })

  test('__proto__ is a field like any other and changes no prototype', () => {
    const value = parseJson('{"__proto__":{"admin":9007199254740993}}') as object
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect('admin' in {}).toBe(false)
  })

  test.each([
    ['a number of a million digits', '9'.repeat(1_000_000)],
    ['a million zeros after the point', `1.${'0'.repeat(1_000_000)}`],
    ['a huge exponent', '1e999999999999999999999'],
    ['a million quotes and backslashes', `"${'\\\\\\"'.repeat(300_000)}"`],
  ])('%s takes no time', (_name, text) => {
    const start = performance.now()
    parseJson(text)
    expect(performance.now() - start).toBeLessThan(1000)
  })

  test('agrees with JSON.parse wherever that is exact', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const ours = JSON.parse(stringifyJson(parseJson(text, { maxDepth: 50 })))
        expect(ours).toEqual(JSON.parse(stringifyJson(JSON.parse(text))))
      }),
    )
  })
})

describe('exactness', () => {
  test('every integer survives reading and writing', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 255n), max: 2n ** 256n }), (value) => {
        const read = parseJson(`{"value":${value}}`)
        expect(stringifyJson(read)).toBe(`{"value":${value}}`)
        expect(toInteger((read as { value: unknown }).value, false)).toBe(value)
      }),
    )
  })

  test('an integer in any notation is the same integer', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2n ** 128n }),
        fc.integer({ min: 0, max: 20 }),
        (value, zeros) => {
          const shifted = `${value}${'0'.repeat(zeros)}e-${zeros}`
          const [first, ...rest] = String(value)
          const scientific = `${first}.${rest.join('')}0e${rest.length}`
          for (const text of [shifted, scientific]) expect(toInteger(parseJson(text), false)).toBe(value)
        },
      ),
    )
  })

  test('no fraction becomes an integer', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 128n }),
        fc.integer({ min: 1, max: 60 }),
        (whole, place) => {
          expect(toInteger(parseJson(`${whole}.${'0'.repeat(place - 1)}1`), true)).toBeUndefined()
        },
      ),
    )
  })

  test.each(['', ' 1', '1 ', '+1', '01', '-0', '1.0', '1e3', '0x1', '1_000', '\u0661', '9'.repeat(401)])(
    'the string %j is no integer',
    (text) => {
      expect(toInteger(text, true)).toBeUndefined()
    },
  )

  test('strings count only where they are wanted', () => {
    expect(toInteger('7', true)).toBe(7n)
    expect(toInteger('7', false)).toBeUndefined()
    expect(toInteger(2 ** 53, true)).toBeUndefined()
    expect(toInteger(-0, true)).toBe(0n)
  })
})
