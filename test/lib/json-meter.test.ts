import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createJsonMeter } from '../../src/lib/json.ts'

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
