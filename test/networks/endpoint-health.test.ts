import { describe, expect, test } from 'vitest'
import {
  afterAnswer,
  afterFailure,
  conditionOf,
  type Failure,
  HEALTHY,
  type Health,
} from '../../src/networks/endpoints.ts'

const DOWN: Failure = { kind: 'down', detail: 'down' }
const SLOW: Failure = { kind: 'slow', detail: 'slow' }

/** Health after failures at these times. */
function failedAt(failure: Failure, ...times: readonly number[]): Health {
  return times.reduce((health, at) => afterFailure(health, failure, at), HEALTHY)
}

describe('a rest', () => {
  test.each([
    { name: 'no failure', health: HEALTHY, at: 0, want: 'well' },
    { name: 'one broken connection', health: failedAt(DOWN, 0), at: 0, want: 'well' },
    { name: 'three within a minute', health: failedAt(DOWN, 0, 1, 2), at: 2, want: 'resting' },
    {
      name: 'three in more than a minute',
      health: failedAt(DOWN, 0, 40_000, 80_000),
      at: 80_000,
      want: 'well',
    },
    { name: 'one time-out', health: failedAt(SLOW, 0), at: 4_999, want: 'resting' },
    { name: 'one time-out, later', health: failedAt(SLOW, 0), at: 5_000, want: 'trial' },
    { name: 'one HTTP 401', health: failedAt({ kind: 'barred', detail: '' }, 0), at: 0, want: 'resting' },
  ])('after $name at $at ms: $want', ({ health, at, want }) => {
    expect(conditionOf(health, at)).toBe(want)
  })

  test('doubles with each failed trial, up to five minutes', () => {
    let health = HEALTHY
    let now = 0
    const rests: number[] = []
    for (let trial = 0; trial < 9; trial += 1) {
      health = afterFailure(health, SLOW, now)
      rests.push(health.restsUntil - now)
      now = health.restsUntil
    }
    expect(rests).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000])
  })

  test('does not double for requests that failed together', () => {
    const together = failedAt(SLOW, 0, 1, 2)
    expect(together.rests).toBe(1)
    expect(together.restsUntil).toBe(5_002)
  })

  test('ends with an answer, and the next one is short again', () => {
    const tried = afterAnswer(failedAt(SLOW, 0, 5_000), 15_000)
    expect(tried).toEqual(HEALTHY)
  })

  test('comes to one that fails every second time, although it answers in between', () => {
    const kept = [0, 1].reduce((health, at) => afterFailure(afterAnswer(health, at), DOWN, at), HEALTHY)
    expect(conditionOf(afterFailure(kept, DOWN, 2), 2)).toBe('resting')
  })
})

describe('a pause that was asked for', () => {
  test.each([
    { retryAfterMs: 7_000, want: 7_000 },
    { retryAfterMs: 0, want: 0 },
    { retryAfterMs: 86_400_000, want: 300_000 },
    { retryAfterMs: undefined, want: 1_000 },
  ])('Retry-After $retryAfterMs ms: $want ms, by wish', ({ retryAfterMs, want }) => {
    const failure = {
      kind: 'limited',
      detail: '429',
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    } as const
    expect(afterFailure(HEALTHY, failure, 100)).toMatchObject({ restsUntil: 100 + want, byWish: true })
  })

  test('grows up to eight seconds when no answer says how long', () => {
    let health = HEALTHY
    const rests = Array.from({ length: 6 }, () => {
      const now = health.restsUntil
      health = afterFailure(health, { kind: 'limited', detail: '429' }, now)
      return health.restsUntil - now
    })
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
  })

  test('is not shortened by another failure on the way', () => {
    const asked = afterFailure(HEALTHY, { kind: 'limited', detail: '', retryAfterMs: 60_000 }, 0)
    expect(afterFailure(asked, SLOW, 1_000)).toMatchObject({ restsUntil: 60_000, byWish: true })
  })
})
