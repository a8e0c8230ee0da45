import { expect, test } from 'vitest'
import { countIn, counts, type Window } from '../../plugins/shared/windows.ts'
import { createWorld } from './x402/world.ts'

const WINDOW: Window = { per: 'key', windowSeconds: 60, times: 3, amount: 100n }

function createCounter() {
  const at = { ms: 0 }
  const world = { ...createWorld(''), now: () => at.ms }
  const count = (who: string, amount = 1n, window = WINDOW) =>
    countIn(window, { who: [who], amount, beyond: (message) => new Error(message) }, world)
  return { at, count, world }
}

test('A window counts how often and how much for each name by itself, until it is over', async () => {
  const { at, count } = createCounter()
  for (let times = 0; times < 3; times += 1) await count('one')
  await expect(count('one')).rejects.toThrow('The limit per key in 60 seconds is reached.')
  await count('other', 100n)
  await expect(count('other')).rejects.toThrow('is reached')
  at.ms = 59_999
  await expect(count('one')).rejects.toThrow('is reached')
  at.ms = 60_000
  await count('one')
})

test('A window counts each of many at the same moment, and keeps few values for many names', async () => {
  const { count, world } = createCounter()
  const asked = await Promise.allSettled(Array.from({ length: 10 }, () => count('one')))
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  for (let name = 0; name < 1_000; name += 1) await count(String(name))
  expect(world.values.size).toBeLessThanOrEqual(256)
})

test('A window of all callers without a key counts no others', () => {
  expect(counts({ per: 'open' }, '(anonymous)')).toBe(true)
  expect(counts({ per: 'open' }, 'key-1')).toBe(false)
  expect(counts({ per: 'all' }, 'key-1')).toBe(true)
})
