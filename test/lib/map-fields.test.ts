import { expect, test } from 'vitest'
import { mapFields } from '../../src/lib/object.ts'

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
