import type { Db } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Clock } from '../../lib/time.ts'
import type { Logger } from '../../log.ts'
import { type DueRun, findDueRun, readTimes, type Times } from '../../schedules/cron.ts'
import { createLeasedLoop, type Loop } from '../../workers/loop.ts'
import type { Plugin } from '../manage.ts'
import { callHook } from './before-send.ts'
import { problemOf } from './events.ts'
import type { HookObserver, ScheduleHook } from './hook.ts'
import { type LastRun, moveLastRun, readLastRuns } from './hooks-store.ts'

/** The name of the exported function. */
const ENTRY = 'schedule'

interface ScheduleDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  /** Absent if metrics are off. */
  readonly observer?: HookObserver | undefined
}

/** Time in ms between two looks at the clock, and that the lease lasts. */
const LOOK_MS = 500
const LEASE_MS = 10_000

interface Planned {
  readonly plugin: Plugin
  readonly hook: ScheduleHook
  readonly times: Times
}

/**
 * Creates the loop that runs the schedules of all plugins, in one process at a time. A time is stored before
 * its run begins, so each is run at most once; a run that fails is not repeated.
 */
export function createScheduleLoop(deps: ScheduleDeps, plugins: readonly Plugin[]): Loop {
  const { db, clock, log, owner } = deps
  const planned = new Map(
    plugins.flatMap((plugin) =>
      plugin.config.hooks.schedule.map((hook): [string, Planned] => {
        return [keyOf(plugin.config.id, hook.name), { plugin, hook, times: readTimes(hook) }]
      }),
    ),
  )
  /** A schedule does not overtake its own run. */
  const running = new Set<string>()

  async function runDue(last: LastRun): Promise<void> {
    const key = keyOf(last.plugin, last.name)
    const plan = planned.get(key)
    if (plan === undefined || running.has(key) || plan.plugin.host.state().status !== 'ready') return
    const due = findDueRun(plan.times, last.lastAt, new Date(clock.now()))
    if (due === undefined || !(await moveLastRun(db, last, due.at))) return
    running.add(key)
    // It may take longer than a round of the loop.
    void runOnce(deps, { ...plan, last, due })
      .catch((err: unknown) =>
        log.error({ err, plugin: last.plugin, schedule: last.name }, 'schedule failed'),
      )
      .finally(() => running.delete(key))
  }

  return createLeasedLoop({
    name: 'plugin-schedules',
    intervalMs: LOOK_MS,
    ttlMs: LEASE_MS,
    db,
    owner,
    clock,
    log,
    work: async () => {
      for (const last of await readLastRuns(db)) await runDue(last)
    },
  })
}

function keyOf(plugin: string, name: string): string {
  return `${plugin} ${name}`
}

interface DueSchedule extends Planned {
  readonly last: LastRun
  readonly due: DueRun
}

async function runOnce(
  { db, log, observer }: ScheduleDeps,
  { plugin, hook: { name, timeout }, last, due }: DueSchedule,
): Promise<void> {
  const { id } = plugin.config
  if (due.missed > 0)
    log.warn({ plugin: id, schedule: name, missed: due.missed, since: last.lastAt }, 'schedule missed times')
  try {
    const params = omitUndefined({
      name,
      scheduled_at: due.at.toISOString(),
      missed: due.missed,
      last_at: last.lastAt.toISOString(),
    })
    const outcome = await callHook(plugin, {
      entry: ENTRY,
      params: JSON.stringify(params),
      timeoutMs: timeout * 1_000,
    })
    const problem = problemOf(outcome)
    observer?.ran({
      plugin: id,
      name,
      result: problem === undefined ? 'succeeded' : 'failed',
      missed: due.missed,
    })
    if (problem !== undefined) log.error({ plugin: id, schedule: name, problem }, 'schedule failed')
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'plugin_unavailable') throw error
    // Nothing was done, so the time is due again.
    await moveLastRun(db, { ...last, lastAt: due.at }, last.lastAt)
  }
}
