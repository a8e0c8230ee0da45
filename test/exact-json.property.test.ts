import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromExactJson, toExactJson } from '../src/exact-json.ts'

/** Out as JSON text and in again, as the database does it. */
const throughJson = (value: unknown): unknown => fromExactJson(JSON.parse(JSON.stringify(toExactJson(value))))

const date = fc.date({
  min: new Date('0001-01-01T00:00:00.000Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
})
const text = fc.string({ unit: 'binary' })
const scalar = fc.oneof(fc.bigInt(), date, text, fc.boolean(), fc.constant(null), fc.integer())

/** The two names that stand for a type are no names of fields. */
const name = text.filter((key) => key !== '$int' && key !== '$time')

/** Any nesting of lists and objects. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

describe('what goes through exact JSON comes back as it was (I10)', () => {
  test('any nesting of integers, times, texts and the rest', () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(throughJson(given)).toStrictEqual(given)
      }),
    )
  })

  test.each([0n, -1n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 64n - 1n, 2n ** 256n + 1n])(
    'the integer %d',
    (given) => {
      expect(throughJson(given)).toBe(given)
    },
  )

  test('digits and times that are texts stay texts', () => {
    const given = { digits: '9007199254740993', time: '2030-01-01T00:00:00.000Z', empty: '' }
    expect(throughJson(given)).toStrictEqual(given)
  })

  test('fields that are undefined are left out, null is kept', () => {
    expect(throughJson({ a: undefined, b: null, c: [{ d: undefined }] })).toStrictEqual({ b: null, c: [{}] })
  })
})
