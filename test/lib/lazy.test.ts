import { expect, test, vi } from 'vitest'
import { lazy } from '../../src/lib/lazy.ts'

test('the value is computed at the first call, once', () => {
  const compute = vi.fn(() => ({}))
  const get = lazy(compute)
  expect(compute).not.toHaveBeenCalled()
  expect(get()).toBe(get())
  expect(compute).toHaveBeenCalledTimes(1)
})

test('a computation that throws is tried again', () => {
  const compute = vi
    .fn(() => ({}))
    .mockImplementationOnce(() => {
      throw new Error('not yet')
    })
  const get = lazy(compute)
  expect(get).toThrow('not yet')
  expect(get()).toEqual({})
})
