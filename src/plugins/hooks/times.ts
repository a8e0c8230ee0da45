import { Cron } from 'croner'
import type { ScheduleHook } from './hook.ts'

/** The times of a schedule. */
export interface Times {
  /** Returns the first time after another one; undefined if there is none. */
  next(after: Date): Date | undefined
  /** Returns the newest time up to another one. */
  last(upTo: Date): Date | undefined
}

/** @throws Error with a sentence about an expression or a time zone that cannot be read */
export function readTimes({ cron, timezone }: Pick<ScheduleHook, 'cron' | 'timezone'>): Times {
  const job = new Cron(cron, { mode: '5-or-6-parts', timezone, paused: true })
  const times: Times = {
    next: (after) => job.nextRun(after) ?? undefined,
    // The library counts a time in the same second only if the reference has milliseconds.
    last: (upTo) => job.previousRuns(1, new Date(upTo.getTime() + 1))[0],
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
  return { at: times.last(now) ?? at, missed: MAX_MISSED }
}
