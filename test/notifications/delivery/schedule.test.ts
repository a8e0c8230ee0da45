import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deliveryId, eventNumberOf } from '../../../src/notifications/delivery/delivery-store.ts'
import { LEAST_TRIES, nextTry } from '../../../src/notifications/delivery/try-delivery.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** When each try of a delivery happens whose receiver never comes back, in ms after the first. */
function timesOf(random: () => number): number[] {
  const times = [0]
  for (let now = 0; ; ) {
    const next = nextTry({ tries: times.length, now, giveUpAt: DAY, random })
    if (next.kind === 'never') return times
    now += next.delayMs
    times.push(now)
  }
}

describe('nextTry', () => {
  test('waits twice as long each time, up to an hour, for a day', () => {
    const times = timesOf(() => 1)
    expect(times.slice(0, 6)).toEqual([0, 5_000, 15_000, 35_000, 75_000, 155_000])
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(Math.max(...waits)).toBe(HOUR)
    expect(times.at(-1)).toBe(DAY)
    expect(times.length).toBe(34)
  })

  test('makes half of a wait random', () => {
    const wait = (random: number) => nextTry({ tries: 3, now: 0, giveUpAt: DAY, random: () => random })
    expect([wait(0), wait(0.5), wait(1)]).toEqual(
      [10_000, 15_000, 20_000].map((delayMs) => ({ kind: 'again', delayMs })),
    )
  })

  test('is never sooner than the receiver asked, and never after the last chance', () => {
    const asked = (retryAfterMs: number) =>
      nextTry({ tries: 1, now: 0, giveUpAt: DAY, retryAfterMs, random: () => 1 })
    expect([asked(1_000), asked(60_000), asked(2 * DAY)]).toEqual(
      [5_000, 60_000, DAY].map((delayMs) => ({ kind: 'again', delayMs })),
    )
  })

  test('is never when the last chance has failed', () => {
    expect(nextTry({ tries: 11, now: DAY, giveUpAt: DAY, random: () => 0 })).toEqual({ kind: 'never' })
  })

  test('a clock that steps forward by a day ends no delivery that has failed a few times', () => {
    const failedAgain = (tries: number) => nextTry({ tries, now: 2 * DAY, giveUpAt: DAY, random: () => 1 })
    expect(failedAgain(1)).toEqual({ kind: 'again', delayMs: 5_000 })
    expect(failedAgain(10)).toEqual({ kind: 'again', delayMs: 2_560_000 })
    expect(failedAgain(11)).toEqual({ kind: 'never' })
  })

  test('the shortest window has the least number of tries by itself', () => {
    let tries = 1
    for (let now = 0; ; tries += 1) {
      const next = nextTry({ tries, now, giveUpAt: HOUR, random: () => 1 })
      if (next.kind === 'never') break
      now += next.delayMs
    }
    expect(tries).toBe(LEAST_TRIES)
  })
})

const number = fc.bigInt({ min: 1n, max: 2n ** 60n - 1n })

test('an id names its event, and is a UUID of version 8', () => {
  fc.assert(
    fc.property(fc.string(), number, (notification, event) => {
      const id = deliveryId(notification, event)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(eventNumberOf(notification, id)).toBe(event)
      expect(eventNumberOf(notification, id.toUpperCase())).toBe(event)
      expect(eventNumberOf(`${notification}.`, id)).toBeUndefined()
    }),
  )
})

test.each(['', 'nothing', '7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d', deliveryId('ops', 1n).slice(1)])(
  '%j names no event',
  (id) => {
    expect(eventNumberOf('ops', id)).toBeUndefined()
  },
)
