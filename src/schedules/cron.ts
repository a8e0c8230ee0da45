import { Cron } from 'croner'

/** A cron expression, and the time zone in which it is read. */
export interface CronExpression {
  readonly cron: string
  /** A name of the IANA database, such as `Europe/Berlin`. */
  readonly timezone: string
}

/** The times of a cron expression. */
export interface Times {
  /** Returns the first time after another one; undefined if there is none. */
  next(after: Date): Date | undefined
  /** Returns the newest times up to another one, the newest first. */
  previous(count: number, upTo: Date): readonly Date[]
}

interface ReadOptions {
  /** The numbers of fields that are accepted. Default: five, or six with seconds. */
  readonly fields?: 'five' | 'five-or-six'
}

/** @throws Error with a sentence about an expression or a time zone that cannot be read */
export function readTimes(
  { cron, timezone }: CronExpression,
  { fields = 'five-or-six' }: ReadOptions = {},
): Times {
  const mode = fields === 'five' ? '5-part' : '5-or-6-parts'
  const job = new Cron(cron, { mode, timezone, paused: true })
  const times: Times = {
    next: (after) => job.nextRun(after) ?? undefined,
    // The library counts a time in the same second only if the reference has milliseconds.
    previous: (count, upTo) => job.previousRuns(count, new Date(upTo.getTime() + 1)),
  }
  if (times.next(new Date()) === undefined) throw new Error('it names no time that ever comes')
  return times
}

/** A time at which a schedule runs, and those before it that it missed. */
export interface DueRun {
  readonly at: Date
  /** Times since the last run at which nothing ran; at most `MAX_MISSED`. */
  readonly missed: number
}

/** More missed times than this are not counted. */
export const MAX_MISSED = 1_000

/**
 * Returns the newest time between the last run and now; undefined if there is none. However many were missed,
 * one run follows. Pure.
 */
export function findDueRun(times: Times, lastAt: Date, now: Date): DueRun | undefined {
  let at = times.next(lastAt)
  if (at === undefined || at > now) return undefined
  for (let missed = 0; missed < MAX_MISSED; missed += 1) {
    const next = times.next(at)
    if (next === undefined || next > now) return { at, missed }
    at = next
  }
  return { at: times.previous(1, now)[0] ?? at, missed: MAX_MISSED }
}
