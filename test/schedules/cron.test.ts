import { describe, expect, test } from 'vitest'
import { findDueRun, MAX_MISSED, readTimes } from '../../src/schedules/cron.ts'

const at = (text: string) => new Date(`2026-${text}Z`)
const daily = readTimes({ cron: '0 3 * * *', timezone: 'UTC' })

describe('a schedule', () => {
  test.each([
    ['is not due before its time', '03-01T02:00', '03-01T02:59', undefined],
    ['is due at its time', '03-01T02:00', '03-01T03:00', { at: '03-01T03:00', missed: 0 }],
    ['is due later if no one ran it', '03-01T02:00', '03-01T09:00', { at: '03-01T03:00', missed: 0 }],
    ['does not run a second time', '03-01T03:00', '03-01T09:00', undefined],
    ['runs once after it missed times', '03-01T03:00', '03-04T03:30', { at: '03-04T03:00', missed: 2 }],
  ])('%s', (_name, last, now, expected) => {
    expect(findDueRun(daily, at(last), at(now))).toEqual(expected && { ...expected, at: at(expected.at) })
  })

  test('counts missed times up to a limit, and then runs at the newest one', () => {
    const everyMinute = readTimes({ cron: '* * * * *', timezone: 'UTC' })
    const due = findDueRun(everyMinute, at('03-01T00:00'), at('04-01T00:00'))
    expect(due).toEqual({ at: at('04-01T00:00'), missed: MAX_MISSED })
  })

  test('follows the time of its zone', () => {
    const berlin = readTimes({ cron: '0 3 * * *', timezone: 'Europe/Berlin' })
    expect(berlin.next(at('03-28T00:00'))).toEqual(at('03-28T02:00'))
    expect(berlin.next(at('03-29T00:00'))).toEqual(at('03-29T01:00'))
  })

  test.each([
    ['a field that is out of range', '61 * * * *', 'UTC'],
    ['too few fields', '* * *', 'UTC'],
    ['years', '0 0 0 1 1 * 2030', 'UTC'],
    ['a time that never comes', '0 0 31 2 *', 'UTC'],
    ['an unknown time zone', '* * * * *', 'Mars/Olympus'],
  ])('with %s is refused', (_name, cron, timezone) => {
    expect(() => readTimes({ cron, timezone })).toThrow()
  })
})
