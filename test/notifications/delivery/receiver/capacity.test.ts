import { describe, expect, test } from 'vitest'
import { type Capacity, createCapacity } from '../../../../src/notifications/delivery/capacity.ts'
import { createAdjustableClock } from '../../../support/clock.ts'

const OK = { failed: false, first: true }
const FIRST_FAILURE = { failed: true, first: true }
const REPEATED_FAILURE = { failed: true, first: false }

function open() {
  const clock = createAdjustableClock()
  return { clock, capacity: createCapacity({ clock, random: () => 1 }) }
}

function endAfterStart(capacity: Capacity, experience: Parameters<Capacity['ended']>[0], times = 1): void {
  for (let count = 0; count < times; count += 1) {
    capacity.started()
    capacity.ended(experience)
  }
}

function freeSlots(capacity: Capacity): number {
  let count = 0
  for (; capacity.isFree(); count += 1) capacity.started()
  return count
}

test('a receiver that works gets 16 requests at a time, one that fails gets one', () => {
  expect(freeSlots(open().capacity)).toBe(16)
  const { capacity } = open()
  endAfterStart(capacity, FIRST_FAILURE)
  expect(freeSlots(capacity)).toBe(1)
  capacity.ended(OK)
  expect(freeSlots(capacity)).toBe(16)
})

test('Retry-After is a time without requests', () => {
  const { clock, capacity } = open()
  endAfterStart(capacity, { ...FIRST_FAILURE, restMs: 10_000 })
  capacity.probeNow()
  expect(capacity.isFree()).toBe(false)
  clock.advance(10_000)
  expect(capacity.isFree()).toBe(true)
})

describe('16 first tries in a row that failed', () => {
  test('suspend the receiver, and one success ends it', () => {
    const { clock, capacity } = open()
    endAfterStart(capacity, FIRST_FAILURE, 15)
    expect(capacity.isSuspended()).toBe(false)
    endAfterStart(capacity, FIRST_FAILURE)
    expect([capacity.isSuspended(), capacity.isFree()]).toEqual([true, false])
    clock.advance(5_000)
    expect(freeSlots(capacity)).toBe(1)
    capacity.ended(OK)
    expect([capacity.isSuspended(), freeSlots(capacity)]).toEqual([false, 16])
  })

  test('make it wait longer after each further failure, a minute at most', () => {
    const { clock, capacity } = open()
    endAfterStart(capacity, FIRST_FAILURE, 16)
    for (const waitMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      clock.advance(waitMs - 1_000)
      expect(capacity.isFree()).toBe(false)
      clock.advance(1_000)
      expect(capacity.isFree()).toBe(true)
      endAfterStart(capacity, REPEATED_FAILURE)
    }
  })

  test.each(['probeNow', 'restart'] as const)('%s lets it have a request immediately', (end) => {
    const { capacity } = open()
    endAfterStart(capacity, FIRST_FAILURE, 16)
    capacity[end]()
    expect([capacity.isFree(), capacity.isSuspended()]).toEqual([true, end === 'probeNow'])
  })
})

test('repeated tries of the same deliveries suspend no receiver', () => {
  const { capacity } = open()
  endAfterStart(capacity, REPEATED_FAILURE, 100)
  expect([capacity.isSuspended(), capacity.isFree()]).toEqual([false, true])
})
