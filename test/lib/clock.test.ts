import { expect, test } from 'vitest'
import { withTimeout } from '../../src/lib/time.ts'
import { createTestClock } from '../support/clock.ts'

test('within gives what comes in time, and waits no longer', async () => {
  const clock = createTestClock()
  expect(await withTimeout(clock, 5_000, Promise.resolve('done'))).toBe('done')
  expect(clock.waiting).toBe(0)
})

test('within gives nothing when the time is up, and a failure that comes later harms nobody', async () => {
  const clock = createTestClock()
  const work = Promise.withResolvers<string>()
  const waiting = withTimeout(clock, 5_000, work.promise)
  clock.advance(4_999)
  expect(clock.waiting).toBe(1)
  clock.advance(1)
  expect(await waiting).toBeUndefined()
  work.reject(new Error('too late'))
})

test('within fails as the work does', async () => {
  const clock = createTestClock()
  await expect(withTimeout(clock, 5_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(clock.waiting).toBe(0)
})
