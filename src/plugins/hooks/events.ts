import { stringifyJson } from '../../contract/exact-integers.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import { acquireLease, assertFence, type Lease, LeaseLostError, releaseLease } from '../../database/lease.ts'
import { transact } from '../../database/locks/transact.ts'
import { acquireForLife } from '../../database/processes.ts'
import { AppError } from '../../errors.ts'
import type { EventRecord } from '../../events/event.ts'
import { nextPage } from '../../events/follow.ts'
import { readEvents } from '../../events/store.ts'
import { limitConcurrency } from '../../lib/concurrency/limit-concurrency.ts'
import { backoffMs, type Clock } from '../../lib/time.ts'
import type { Logger } from '../../log.ts'
import { createLoop, type Loop } from '../../workers/loop.ts'
import type { PluginOutcome } from '../host.ts'
import type { Plugin } from '../manage.ts'
import { callHook } from './before-send.ts'
import { type EventHook, HOOKED_EVENTS, type HookObserver } from './hook.ts'
import {
  findDue,
  readCursor,
  readWaiting,
  removeWaiting,
  saveFailedTry,
  saveRead,
  type WaitingEvent,
} from './hooks-store.ts'

export interface EventHookDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  /** Shows events as the contract does. */
  readonly presentEvents: (events: readonly EventRecord[]) => Promise<readonly Schemas['Event'][]>
  /** Absent if metrics are off. */
  readonly observer?: HookObserver | undefined
}

/** The name of the exported function. */
const ENTRY = 'on_event'

/** Time in ms between two tries to get the lease of a plugin, which another process has while it is alive. */
const STANDBY_MS = 1_000

/** The longest delay in ms of an event whose notification was lost, and of a try that is due. */
const BACKSTOP_MS = 1_000

/** Events of one read, and calls at the same time. Those of one transaction follow each other. */
const PAGE = 100
const MAX_CALLS = 16

/** With more waiting events, nothing further is read: the plugin, or what it needs, is away. */
const MAX_WAITING = 1_000

/** Time in ms after which a round begins no further call: readiness expects a round every minute. */
const ROUND_MS = 20_000

/**
 * Time in ms for the calls that run when the process stops, after which another one does not wait for them: a
 * call and what stores its end.
 */
const LAST_CALLS_MS = 35_000

/** The pauses between the tries of an event, and the time after its first one after which it is given up. */
const BACKOFF = { baseMs: 1_000, maxMs: 60_000, jitter: 'equal' } as const
const GIVE_UP_MS = 86_400_000

const TYPES: ReadonlySet<string> = new Set(HOOKED_EVENTS)

/**
 * Creates the loop that calls `on_event` of a plugin, in one process at a time. Another event of the log
 * wakes it.
 */
export function createEventLoop(deps: EventHookDeps, plugin: Plugin, hook: EventHook): Loop {
  const { db, clock, log, owner } = deps
  const { id } = plugin.config
  const name = `plugin-events:${id}`
  let lease: Lease | undefined
  let askAt = Number.NEGATIVE_INFINITY
  /** The plugin itself could not be called; nothing is tried before this time of the monotonic clock. */
  let awayUntil = Number.NEGATIVE_INFINITY
  let isStopping = false

  /** A process without the lease tries occasionally, not for each event. */
  async function hold(): Promise<Lease | undefined> {
    const now = clock.monotonic()
    if (now < askAt) return lease
    lease = await acquireForLife(db, { name, owner })
    askAt = now + STANDBY_MS
    return lease
  }

  const loop = createLoop({
    name,
    intervalMs: BACKSTOP_MS,
    clock,
    log,
    work: async () => {
      const current = await hold()
      if (current === undefined || clock.monotonic() < awayUntil) return
      if (plugin.host.state().status !== 'ready') return
      try {
        const isOver = () => isStopping || clock.monotonic() >= endsAt
        const endsAt = clock.monotonic() + ROUND_MS
        const round: Round = { plugin, hook, lease: current, isOver, away: undefined }
        const more = await runRound(deps, round)
        if (round.away !== undefined) awayUntil = clock.monotonic() + round.away * 1_000
        else if (more) loop.wake()
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
        // Another process continues from the cursor.
        lease = undefined
        askAt = clock.monotonic() + STANDBY_MS
      }
    },
  })
  return {
    ...loop,
    wake: () => {
      if (lease !== undefined) loop.wake()
    },
    stop: async () => {
      isStopping = true
      // The last calls may outlive the signs of life of this process. Another one continues when they have
      // ended, so the order stays.
      if (lease !== undefined) await acquireLease(db, { name, owner, ttlMs: LAST_CALLS_MS }).catch(() => {})
      await loop.stop()
      if (lease !== undefined) await releaseLease(db, lease).catch(() => {})
    },
  }
}

interface Round {
  readonly plugin: Plugin
  readonly hook: EventHook
  readonly lease: Lease
  /** True if no further call may begin. */
  readonly isOver: () => boolean
  /** The plugin itself could not be called: seconds until the next try. */
  away: number | undefined
}

/**
 * Repeats what is due, then takes the next events of the log. Returns true if there is more to do. A crash
 * before the last write repeats calls, and loses none.
 * @throws LeaseLostError; the cursor then stays
 */
async function runRound(deps: EventHookDeps, round: Round): Promise<boolean> {
  const { db } = deps
  const { id, rights } = round.plugin.config
  const repeated = await repeatDue(deps, round)
  if (round.away !== undefined) return false
  const { keys, count } = await readWaiting(db, id)
  const after = await readCursor(db, id)
  if (after === undefined || count >= MAX_WAITING) return repeated > 0
  const page = await nextPage(db, { after, limit: PAGE, visibility: rights.visibility })
  if (page.upTo === after) return repeated > 0
  const wanted = page.events.filter(
    ({ type }) => (round.hook.types?.includes(type) ?? true) && TYPES.has(type),
  )
  const waiting = await handlePage(deps, round, { events: wanted, blocked: keys })
  const delayMs = backoffMs(1, { ...BACKOFF, random: Math.random })
  await transact(db, async (tx) => {
    await assertFence(tx, round.lease)
    await saveRead(tx, id, { upTo: page.upTo, waiting }, delayMs)
  })
  return repeated > 0 || page.events.length === PAGE
}

interface Page {
  readonly events: readonly EventRecord[]
  /** The keys of which an earlier event waits. */
  readonly blocked: ReadonlySet<string>
}

/** Calls the plugin with the events of each key in their order, and returns those that have to wait. */
async function handlePage(deps: EventHookDeps, round: Round, { events, blocked }: Page) {
  const shown = new Map(
    (await deps.presentEvents(events)).map((event, index) => [events[index]?.number, event] as const),
  )
  const limit = limitConcurrency(MAX_CALLS)
  const groups = [...Map.groupBy(events, keyOf)]
  const results = await Promise.allSettled(
    groups.map(([key, group]) =>
      limit(async () => {
        let isBlocked = blocked.has(key)
        const waiting: { number: bigint; key: string; hasFailed: boolean }[] = []
        for (const { number } of group) {
          const event = shown.get(number)
          const canCall = !isBlocked && event !== undefined && !round.isOver()
          const result = canCall ? await call(deps, round, event) : 'not_called'
          if (result === 'handled') continue
          isBlocked = true
          waiting.push({ number, key, hasFailed: result === 'failed' })
        }
        return waiting
      }),
    ),
  )
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

/** Returns the number of events that were tried again. */
async function repeatDue(deps: EventHookDeps, round: Round): Promise<number> {
  const due = await findDue(deps.db, round.plugin.config.id, PAGE)
  if (due.length === 0) return 0
  const limit = limitConcurrency(MAX_CALLS)
  const results = await Promise.allSettled(
    due.map((waiting) =>
      limit(async () => {
        if (!round.isOver()) await repeat(deps, round, waiting)
      }),
    ),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return due.length
}

async function repeat(deps: EventHookDeps, round: Round, { number, tries }: WaitingEvent): Promise<void> {
  const { db, log, observer } = deps
  const { id } = round.plugin.config
  const [record] = await readEvents(db, { after: number - 1n, upTo: number, limit: 1 })
  const [event] = record === undefined ? [] : await deps.presentEvents([record])
  const result = event === undefined ? 'handled' : await call(deps, round, event)
  if (result === 'not_called') return
  if (event === undefined || result === 'handled') {
    await removeWaiting(db, id, number)
    return
  }
  const delayMs = backoffMs(tries + 1, { ...BACKOFF, random: Math.random })
  if ((await saveFailedTry(db, id, { number, delayMs, longestMs: GIVE_UP_MS })) === 'waits') return
  observer?.event(id, 'given_up')
  log.error(
    { plugin: id, event: event.id, transaction: event.transaction_id },
    'hook on_event failed for a day; the event is given up',
  )
}

/** Events of one transaction, and those of one relayer, stay in order. */
function keyOf({ transactionId, relayerId }: EventRecord): string {
  return transactionId ?? `relayer ${relayerId ?? ''}`
}

/** Calls the plugin with an event, unless it could not be called a moment ago. */
async function call(
  { log, observer }: EventHookDeps,
  round: Round,
  event: Schemas['Event'],
): Promise<'handled' | 'failed' | 'not_called'> {
  const { plugin, hook } = round
  const { id } = plugin.config
  if (round.away !== undefined) return 'not_called'
  const outcome = await callHook(plugin, {
    entry: ENTRY,
    params: stringifyJson(event),
    timeoutMs: hook.timeout * 1_000,
  }).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'plugin_unavailable') throw error
    round.away = error.retryAfterSeconds ?? 1
  })
  if (outcome === undefined) return 'not_called'
  const problem = problemOf(outcome)
  observer?.event(id, problem === undefined ? 'handled' : 'failed')
  if (problem !== undefined)
    log.warn({ plugin: id, event: event.id, problem }, 'hook on_event failed; retrying')
  return problem === undefined ? 'handled' : 'failed'
}

/** Returns the reason of a call that did not succeed. Pure. */
export function problemOf(outcome: PluginOutcome): string | undefined {
  switch (outcome.kind) {
    case 'result':
      return undefined
    case 'refused':
      return outcome.error.message
    case 'failed':
      return outcome.reason
    case 'timeout':
      return 'It did not end in time.'
  }
}
