import type { ChainRequest } from '../chains/request.ts'
import type { ErrorCode } from '../errors.ts'
import type { ApprovedReason } from '../transactions/accept/admit.ts'
import type { IdempotencyKey } from '../transactions/accept/idempotency.ts'
import { withEnd } from '../transactions/model/due.ts'
import { readTimes, type Times } from './cron.ts'

/** The rule for times at which nothing ran, because the service was down. */
export type MissedPolicy = 'skip' | 'once' | 'all'

/** The rule for a time at which the transaction of the run before is not final. */
export type OverlapPolicy = 'allow' | 'skip'

/** `each_run`: rules for approvals make each run wait · `once`: the schedule waits, and then no run does. */
export type ApprovalPolicy = 'each_run' | 'once'

/** `completed`: no time is left, or `maxRuns` is reached. */
export type ScheduleState = 'active' | 'paused' | 'awaiting_approval' | 'completed'

/** The part of a schedule that callers decide. */
export interface ScheduleContent {
  readonly name?: string | undefined
  readonly cron: string
  readonly timezone: string
  /** The content of each run, without times. */
  readonly request: ChainRequest
  /** The same in the form of the contract. */
  readonly body: object
  readonly lane?: string | undefined
  readonly reference?: string | undefined
  readonly description?: string | undefined
  /** The time from a run until its transaction expires. */
  readonly validForSeconds?: number | undefined
  readonly missed: MissedPolicy
  readonly overlap: OverlapPolicy
  readonly approval: ApprovalPolicy
  /** No time after this one counts. */
  readonly endsAt?: Date | undefined
  /** It is over after this many transactions. */
  readonly maxRuns?: number | undefined
}

/** A transaction that is sent again and again. */
export interface Schedule extends ScheduleContent {
  readonly id: string
  readonly relayerId: string
  readonly state: ScheduleState
  readonly stateReason?: string | undefined
  /** In whose name it sends. */
  readonly apiKeyId: string
  /** The user of the caller for whom it sends. */
  readonly userId?: string | undefined
  /** The reasons that need, or had, one approval for all runs; absent without any. */
  readonly reasons?: readonly ApprovedReason[] | undefined
  /** Present when another key has approved these reasons. */
  readonly approvedBy?: string | undefined
  /** Every change of a caller increments it. */
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
  /** The next time that is not decided; present while it is active. */
  readonly nextAt?: Date | undefined
  /** The newest time that was decided. */
  readonly lastAt?: Date | undefined
  /** The number of transactions that it has sent. */
  readonly runs: number
  readonly lastTransactionId?: string | undefined
  /** The most that a run takes from the account, in the smallest unit, when one was last priced. */
  readonly cost?: bigint | undefined
}

/** The outcome of a time. */
export interface ScheduleRun {
  readonly scheduledAt: Date
  readonly outcome: 'sent' | 'refused' | 'skipped'
  readonly decidedAt: Date
  readonly transactionId?: string | undefined
  readonly code?: ErrorCode | undefined
  readonly reason?: string | undefined
  /** The times that it stands for: more than one if many were missed. */
  readonly times: number
}

/** The most schedules of a relayer, and of an API key. */
export const MAX_SCHEDULES = 100

/** The time in ms after which a time that nothing ran at was missed. */
const MISSED_AFTER_MS = 60_000

/** The most missed times that `all` catches up with. */
const MAX_CAUGHT_UP = 10

/** The most missed times that are counted. */
const MAX_COUNTED = 100

/** No time further in the future is looked for: the rarest expressions need a long search for each. */
const HORIZON_MS = 366 * 86_400_000

/**
 * Reads the expression of a schedule: minutes are the shortest interval, because there are no seconds.
 * @throws Error with a sentence about an expression or a time zone that cannot be read
 */
export function timesOf(schedule: Pick<Schedule, 'cron' | 'timezone'>): Times {
  return readTimes(schedule, { fields: 'five' })
}

/** The part of a schedule that bounds its times. */
type Bounds = Pick<ScheduleContent, 'endsAt'>

/** Returns the first time after another one that counts; undefined if there is none. */
export function nextTime(times: Times, { endsAt }: Bounds, after: Date): Date | undefined {
  const next = times.next(after)
  return next !== undefined && (endsAt === undefined || next <= endsAt) ? next : undefined
}

/** Returns the content of a run that is sent at a time. Pure. */
export function requestAt(
  { request, validForSeconds }: Pick<ScheduleContent, 'request' | 'validForSeconds'>,
  at: Date,
): ChainRequest {
  return validForSeconds === undefined
    ? request
    : withEnd(request, new Date(at.getTime() + validForSeconds * 1_000))
}

/**
 * Returns the idempotency key of a run. No API key has an id with a colon, so no caller can use it up (I19).
 */
export function runKey({ id, at }: { readonly id: string; readonly at: Date }): IdempotencyKey {
  return { key: at.toISOString(), maker: `schedule:${id}`, fingerprint: '' }
}

/** Lists the next times at which an active schedule runs: at most `count`, of at most a year. */
export function upcoming(schedule: Schedule, count: number, now: Date): Date[] {
  const { nextAt, maxRuns, runs } = schedule
  const times = timesOf(schedule)
  const latest = new Date(now.getTime() + HORIZON_MS)
  const most = Math.min(count, maxRuns === undefined ? count : maxRuns - runs)
  const found: Date[] = []
  for (let at = nextAt; at !== undefined && at <= latest && found.length < most; ) {
    found.push(at)
    at = nextTime(times, schedule, at)
  }
  return found
}

/** The decision of one commit about the times of a schedule that have come. */
export interface Step {
  /** Times that are left out because they were missed. */
  readonly missed?: { readonly from: Date; readonly times: number } | undefined
  /** The time to run; absent if all were missed. */
  readonly at?: Date | undefined
  /** The newest time that is decided with it. */
  readonly last: Date
  /** The next time; absent if there is none. */
  readonly next?: Date | undefined
}

/** Plans the next step of an active schedule; undefined while its time has not come. Pure. */
export function planStep(schedule: Schedule, times: Times, now: Date): Step | undefined {
  const { nextAt, lastAt, endsAt, missed } = schedule
  if (nextAt === undefined || nextAt > now) return undefined
  // Nothing but SQL by hand moves the next time back.
  if (lastAt !== undefined && nextAt <= lastAt)
    return { last: lastAt, next: nextTime(times, schedule, lastAt) }
  const due = findDue(times, nextAt, endsAt !== undefined && endsAt < now ? endsAt : now)
  const { last, oldest, count } = due
  const step = (at: Date, before: number): Step => ({
    missed: before === 0 ? undefined : { from: nextAt, times: before },
    at,
    last: at,
    next: nextTime(times, schedule, at),
  })
  switch (missed) {
    case 'once':
      return step(last, count - 1)
    case 'skip':
      return now.getTime() - last.getTime() <= MISSED_AFTER_MS
        ? step(last, count - 1)
        : { missed: { from: nextAt, times: count }, last, next: nextTime(times, schedule, last) }
    case 'all':
      return step(oldest, Math.max(0, count - MAX_CAUGHT_UP))
  }
}

/** The times that have come. */
interface Due {
  readonly last: Date
  /** The oldest of the newest `MAX_CAUGHT_UP`. */
  readonly oldest: Date
  /** At most `MAX_COUNTED`. */
  readonly count: number
}

/**
 * Goes forward through the times, because around a change of the clocks the library does not find the same
 * ones backwards; beyond `MAX_COUNTED` it has to.
 */
function findDue(times: Times, from: Date, now: Date): Due {
  const found: Date[] = []
  for (let at: Date | undefined = from; at !== undefined && at <= now; at = times.next(at)) {
    found.push(at)
    if (found.length > MAX_COUNTED) {
      const newest = times.previous(MAX_CAUGHT_UP, now)
      return { last: newest[0] ?? at, oldest: newest.at(-1) ?? at, count: MAX_COUNTED }
    }
  }
  const oldest = found.at(-MAX_CAUGHT_UP) ?? found[0] ?? from
  return { last: found.at(-1) ?? from, oldest, count: Math.max(1, found.length) }
}
