import { type FieldType, oneOf, type Reader } from '../lib/fields.ts'
import { omitUndefined } from '../lib/object.ts'
import type { Finding, Rule, Subject } from './rule.ts'
import { type SpendingHours, WEEKDAYS, type Weekday } from './rules.ts'

/** The rule for the time of the day. */
export const HOURS: Rule<SpendingHours> = { read: readHours, content: evaluateHours }

const timeOfDay: FieldType<string> = {
  expected: 'a time of day in UTC such as "08:00"',
  read: (value) =>
    typeof value === 'string' && /^([01][0-9]|2[0-3]):[0-5][0-9]$/.test(value) ? value : undefined,
  blank: '00:00',
}

function readHours(reader: Reader, field: string): SpendingHours | undefined {
  const hours = reader.object(field)
  if (hours === undefined) return undefined
  const read = omitUndefined({
    from: hours.get('from', timeOfDay),
    to: hours.get('to', timeOfDay),
    days: hours.raw('days') === undefined ? undefined : hours.list<Weekday>('days', oneOf(...WEEKDAYS)),
  })
  hours.finish()
  return read
}

function evaluateHours(hours: SpendingHours, { now }: Subject): Finding[] {
  const days = hours.days === undefined ? '' : ` on ${hours.days.join(', ')}`
  const detail = `sending is allowed from ${hours.from} to ${hours.to} UTC${days}, and it is ${now.toISOString()}`
  return [{ allowed: isWithin(hours, now), detail }]
}

/** The minutes after midnight, UTC. */
function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
}

/** Returns true if the time is in the hours of its day, or in those of the day before past midnight. */
function isWithin({ from, to, days }: SpendingHours, now: Date): boolean {
  const [start, end] = [minutesOf(from), minutesOf(to)]
  const minute = now.getUTCHours() * 60 + now.getUTCMinutes()
  const startsOn = (day: number) => {
    const name = WEEKDAYS[(day + 7) % 7]
    return name !== undefined && (days === undefined || days.includes(name))
  }
  const today = now.getUTCDay()
  if (start < end) return startsOn(today) && minute >= start && minute < end
  return (startsOn(today) && minute >= start) || (startsOn(today - 1) && minute < end)
}
