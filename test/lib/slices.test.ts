import fc from 'fast-check'
import { expect, test } from 'vitest'
import { slicesOf } from '../../src/lib/object.ts'

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
