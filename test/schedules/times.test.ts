import { describe, expect, test } from 'vitest'
import { planStep, type Schedule, timesOf, upcoming } from '../../src/schedules/schedule.ts'

const BERLIN = 'Europe/Berlin'

/** The next times of an expression, without the year and the milliseconds. */
function next(cron: string, from: string, count: number, timezone = BERLIN): string[] {
  const times = timesOf({ cron, timezone })
  const found: string[] = []
  for (let at = times.next(new Date(from)); at !== undefined && found.length < count; at = times.next(at))
    found.push(at.toISOString().slice(5, 16))
  return found
}

describe('around a change of the clocks', () => {
  // On 28 March 2027, 02:00 (01:00 UTC) becomes 03:00; on 31 October, 03:00 (01:00 UTC) becomes 02:00.
  test.each([
    [
      'one time that does not exist runs once, at the change',
      '30 2 * * *',
      '2027-03-27T12:00Z',
      ['03-28T01:00', '03-29T00:30'],
    ],
    [
      'several minutes of the missing hour are left out',
      '15,45 2 * * *',
      '2027-03-27T12:00Z',
      ['03-29T00:15', '03-29T00:45'],
    ],
    [
      'every hour leaves the missing one out',
      '0 * * * *',
      '2027-03-27T23:30Z',
      ['03-28T00:00', '03-28T01:00', '03-28T02:00'],
    ],
    [
      'one time that exists twice runs once, at the first',
      '30 2 * * *',
      '2027-10-30T12:00Z',
      ['10-31T00:30', '11-01T01:30'],
    ],
    [
      'several minutes of the repeated hour run in both hours',
      '15,45 2 * * *',
      '2027-10-30T12:00Z',
      ['10-31T00:15', '10-31T00:45', '10-31T01:15'],
    ],
    [
      'every hour runs in both hours',
      '0 * * * *',
      '2027-10-30T23:30Z',
      ['10-31T00:00', '10-31T01:00', '10-31T02:00'],
    ],
  ])('%s', (_name, cron, from, expected) => {
    expect(next(cron, from, expected.length)).toEqual(expected)
  })
})

function scheduleOf(change: Partial<Schedule>): Schedule {
  const at = new Date('2027-01-01T00:00Z')
  return {
    id: 'one',
    relayerId: 'main',
    cron: '0 * * * *',
    timezone: 'UTC',
    request: { type: 'evm', value: 0n },
    body: {},
    missed: 'once',
    overlap: 'skip',
    approval: 'each_run',
    state: 'active',
    apiKeyId: 'root',
    version: 1,
    createdAt: at,
    updatedAt: at,
    runs: 0,
    nextAt: new Date('2027-01-01T01:00Z'),
    ...change,
  }
}

const at = (text: string) => new Date(`2027-01-01T${text}Z`)

describe('a step', () => {
  test.each([
    ['is none before the time', {}, '00:59', undefined],
    ['runs at the time', {}, '01:00', { at: '01:00', next: '02:00' }],
    ['runs late when nothing else was missed', {}, '01:59', { at: '01:00', next: '02:00' }],
    ['runs once for many', {}, '04:30', { at: '04:00', next: '05:00', missed: 3 }],
    ['leaves a late one out', { missed: 'skip' }, '01:02', { next: '02:00', missed: 1 }],
    [
      'runs a punctual one after some that it leaves out',
      { missed: 'skip' },
      '03:00',
      { at: '03:00', next: '04:00', missed: 2 },
    ],
    ['runs all, one after the other', { missed: 'all' }, '03:30', { at: '01:00', next: '02:00' }],
    ['runs the newest ten of all', { missed: 'all' }, '12:30', { at: '03:00', next: '04:00', missed: 2 }],
    ['decides no time again', { lastAt: at('05:00') }, '06:30', { next: '06:00' }],
    ['counts no time after the end', { endsAt: at('02:30') }, '09:00', { at: '02:00', missed: 1 }],
  ] as const)('%s', (_name, change, now, expected) => {
    const schedule = scheduleOf(change)
    const step = planStep(schedule, timesOf(schedule), at(now))
    expect(
      step && {
        ...(step.at && { at: step.at.toISOString().slice(11, 16) }),
        ...(step.next && { next: step.next.toISOString().slice(11, 16) }),
        ...(step.missed && { missed: step.missed.times }),
      },
    ).toEqual(expected)
  })

  test('is planned quickly however long the service was down', () => {
    const schedule = scheduleOf({ cron: '* * * * *', nextAt: at('00:00') })
    const begun = performance.now()
    const step = planStep(schedule, timesOf(schedule), new Date('2027-12-01T00:00Z'))
    expect(step).toMatchObject({ at: new Date('2027-12-01T00:00Z'), missed: { times: 99 } })
    expect(performance.now() - begun).toBeLessThan(1_000)
  })
})

test('the next runs end with the number of transactions that is left, and within a year', () => {
  expect(upcoming(scheduleOf({ maxRuns: 3, runs: 1 }), 10, at('00:00'))).toHaveLength(2)
  const leap = scheduleOf({ cron: '0 0 29 2 *', nextAt: new Date('2028-02-29T00:00Z') })
  expect(upcoming(leap, 10, at('00:00'))).toEqual([])
})
