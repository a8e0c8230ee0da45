import type { Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import { omitUndefined } from '../../lib/object.ts'
import { readTimes } from '../../schedules/cron.ts'
import type { PluginConfig } from '../plugin.ts'
import type { EventHook, ScheduleHook } from './hook.ts'
import { readBacklog, readLastRuns } from './hooks-store.ts'

type Hooks = NonNullable<Schemas['Plugin']['hooks']>

/** Shows the hooks of a plugin with their state, which all processes share. Undefined if it has none. */
export async function showHooks(db: Db, { id, hooks }: PluginConfig): Promise<Hooks | undefined> {
  const { before_send, on_event, schedule } = hooks
  if (before_send === undefined && on_event === undefined && schedule.length === 0) return undefined
  return omitUndefined({
    before_send: before_send && { timeout: before_send.timeout, on_failure: before_send.onFailure },
    on_event: on_event && (await showEventHook(db, id, on_event)),
    schedule: schedule.length === 0 ? undefined : await showSchedules(db, id, schedule),
  })
}

async function showEventHook(db: Db, id: string, { types, timeout }: EventHook) {
  const { waiting, failingSince } = await readBacklog(db, id)
  return omitUndefined({
    types: types && [...types],
    timeout,
    waiting,
    failing_since: failingSince?.toISOString(),
  })
}

async function showSchedules(db: Db, id: string, schedules: readonly ScheduleHook[]) {
  const runs = new Map((await readLastRuns(db, id)).map(({ name, lastAt }) => [name, lastAt]))
  return schedules.map((one) => {
    const lastAt = runs.get(one.name)
    const { name, cron, timezone, timeout } = one
    return omitUndefined({
      name,
      cron,
      timezone,
      timeout,
      next_at: lastAt && readTimes(one).next(lastAt)?.toISOString(),
    })
  })
}
