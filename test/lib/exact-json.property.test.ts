import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { createJsonMeter, fromExactJson, toExactJson } from '../../src/lib/json.ts'
import { openTestDatabase } from '../support/database.ts'

describe('exact JSON', () => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())

  /** Out as JSON text and in again, as the database does it. */
  const throughJson = (value: unknown): unknown =>
    fromExactJson(JSON.parse(JSON.stringify(toExactJson(value))))

  const date = fc.date({
    min: new Date('0001-01-01T00:00:00.000Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  /** Any text, also what is none: with zero bytes and halves of surrogate pairs. */
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom('a', '\u0000', '\ud83d', '\udd11', 'é')).map((units) => units.join('')),
  )
  const scalar = fc.oneof(fc.bigInt(), date, text, fc.boolean(), fc.constant(null), fc.integer())

  /** Any name, also those that exact JSON uses itself. */
  const name = fc
    .oneof(text, fc.constantFrom('$int', '$time', '$text', '$fields', '$', 'to'))
    .filter((key) => key !== '__proto__')

  /** Any nesting of lists and objects. */
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))

  describe('a value that goes through exact JSON (I10)', () => {
    test('comes back as it was, in any nesting of integers, times, texts and the rest', () => {
      fc.assert(
        fc.property(value, (given) => {
          expect(throughJson(given)).toStrictEqual(given)
        }),
      )
    })

    test('comes back as it was through a column of type jsonb', async () => {
      const property = fc.asyncProperty(value, async (given) => {
        const stored = JSON.stringify({ given: toExactJson(given) })
        const { rows } = await sql<{ kept: { given: unknown } }>`select ${stored}::jsonb as kept`.execute(
          database.db,
        )
        expect(fromExactJson(rows[0]?.kept.given)).toStrictEqual(given)
      })
      await fc.assert(property)
    })

    test.each([0n, -1n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 64n - 1n, 2n ** 256n + 1n])(
      'comes back as the integer %d that it was',
      (given) => {
        expect(throughJson(given)).toBe(given)
      },
    )

    test('stays a text when it has the form of digits or of a time', () => {
      const given = { digits: '9007199254740993', time: '2030-01-01T00:00:00.000Z', empty: '' }
      expect(throughJson(given)).toStrictEqual(given)
    })

    test('loses fields that are undefined, and keeps null', () => {
      expect(throughJson({ a: undefined, b: null, c: [{ d: undefined }] })).toStrictEqual({
        b: null,
        c: [{}],
      })
    })
  })
})

/** Feeds the text in parts of a few bytes, so that every state crosses a border. */
function measure(text: string, limits: { depth: number; values: number }, partBytes = 3): void {
  const { read } = createJsonMeter(limits)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += partBytes) read(bytes.subarray(at, at + partBytes))
}

test.each([
  ['1', 1],
  ['[]', 2],
  ['[1,"a",null]', 4],
  ['{"a":1,"b":[2,3]}', 5],
  ['["a,b","[{\\"","\\\\",",é]"]', 5],
])('%s passes a limit of its values, and no smaller one', (text, values) => {
  expect(() => measure(text, { depth: 9, values })).not.toThrow()
  expect(() => measure(text, { depth: 9, values: values - 1 })).toThrow(`more than ${values - 1} values`)
})

test.each([
  ['[[1]]', 2],
  ['{"a":{"b":[]}}', 3],
  ['[[],[],{}]', 2],
  ['["[[[[",[1]]', 2],
])('%s nests %i levels', (text, depth) => {
  expect(() => measure(text, { depth, values: 99 })).not.toThrow()
  expect(() => measure(text, { depth: depth - 1, values: 99 })).toThrow(`deeper than ${depth - 1} levels`)
})

/** Counts what the parser makes of a text. */
function shapeOf(value: unknown): { depth: number; values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 }
  const shapes = Object.values(value).map(shapeOf)
  return {
    depth: 1 + Math.max(0, ...shapes.map(({ depth }) => depth)),
    values: 1 + shapes.reduce((sum, { values }) => sum + values, 0),
  }
}

test('any JSON, cut anywhere, has no fewer levels and values than its parsed form', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 1, max: 9 }), (text, partBytes) => {
      const { depth, values } = shapeOf(JSON.parse(text))
      // Each container counts once more at most: the meter counts places, and an empty container has none.
      expect(() => measure(text, { depth, values: 2 * values }, partBytes)).not.toThrow()
      if (depth > 0)
        expect(() => measure(text, { depth: depth - 1, values: 2 * values }, partBytes)).toThrow()
      expect(() => measure(text, { depth, values: values - 1 }, partBytes)).toThrow()
    }),
  )
})
