import { randomUUID } from 'node:crypto'
import { lockApiKey } from '../access/api-keys-store.ts'
import { type Actor, callerName } from '../access/principal.ts'
import { appendManagement } from '../audit/append-store.ts'
import { changedFields } from '../audit/entry.ts'
import type { Schemas } from '../contract/operations.ts'
import type { Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError, relayerNotFound } from '../errors.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { lockRelayer } from '../relayers/store.ts'
import { checkSubmission, refusalOf } from '../transactions/accept/evaluate.ts'
import { findReasonsToWait } from '../transactions/budgets/spenders.ts'
import type { TransactionsContext } from '../transactions/model/runtime.ts'
import type { DryRun } from '../transactions/requests/dry-run.ts'
import type { Transactions } from '../transactions/requests/transactions.ts'
import { requireReadable, requireRepeatable } from './checks.ts'
import type { Times } from './cron.ts'
import {
  MAX_SCHEDULES,
  nextTime,
  requestAt,
  runKey,
  type Schedule,
  type ScheduleContent,
  timesOf,
} from './schedule.ts'
import {
  countSchedules,
  deleteSchedule,
  findSchedule,
  insertSchedule,
  insertScheduleEvent,
  lockSchedule,
  updateSchedule,
} from './schedules-store.ts'
import { showNotice, showSchedule } from './show.ts'

/** Names a schedule of a relayer. */
export interface ScheduleKey {
  readonly relayerId: string
  readonly id: string
}

/** A schedule, and sentences about it for the caller. */
export interface ManagedSchedule {
  readonly schedule: Schedule
  readonly logs: readonly string[]
}

/** A schedule that is not stored, and the outcome that a run of it would have now. */
export interface PlannedSchedule {
  readonly schedule: Schedule
  readonly run: DryRun
}

/** A change of a schedule. */
export interface ScheduleChange {
  /** Makes the new content of the present one. */
  readonly patch: (present: Schedule) => Promise<ScheduleContent>
  /** Undefined leaves that as it is. */
  readonly paused?: boolean | undefined
  /** The schedule sends in the name of the caller from then on. */
  readonly adopts: boolean
}

/** A decision of an API key or a person about a schedule that waits for an approval. */
interface ScheduleDecision {
  readonly decision: 'approve' | 'refuse'
  /** The version that is decided about. */
  readonly version: number
  readonly reason?: string | undefined
}

/** The verbs of callers on schedules. Each is atomic, and is recorded in the audit log. */
export interface ScheduleManager {
  /** @throws AppError with what is wrong in every run; `invalid_request` for too many schedules */
  create(relayer: Relayer, content: ScheduleContent, actor: Actor): Promise<ManagedSchedule>
  /** Tells what `create` would do. */
  plan(relayer: Relayer, content: ScheduleContent, actor: Actor): Promise<PlannedSchedule>
  /** @throws AppError `schedule_not_found` */
  get(key: ScheduleKey): Promise<Schedule>
  /** @throws AppError as `create`; `schedule_not_found` */
  change(
    relayer: Relayer,
    id: string,
    change: ScheduleChange & { readonly actor: Actor },
  ): Promise<ManagedSchedule>
  /** @throws AppError `schedule_not_found`, `own_approval`, `approval_decided` */
  decide(relayer: Relayer, id: string, decision: ScheduleDecision, actor: Actor): Promise<Schedule>
  /** @throws AppError `schedule_not_found` */
  delete(key: ScheduleKey, actor: Actor): Promise<void>
}

interface ScheduleManagerDeps {
  readonly context: TransactionsContext
  readonly transactions: Pick<Transactions, 'drySend'>
}

/** Each try fails only because another caller has changed the schedule in the meantime. */
const MAX_TRIES = 10

/** Creates the manager of the schedules of this database. */
export function createScheduleManager({ context, transactions }: ScheduleManagerDeps): ScheduleManager {
  const { db, clock } = context
  const now = () => new Date(clock.now())

  /** Finds what is wrong in every run, and what another key has to approve once. */
  async function evaluate(relayer: Relayer, content: ScheduleContent, actor: Actor): Promise<Evaluated> {
    refusePeople(actor)
    const times = requireReadable(content)
    const { chain } = context.runtimeOf(relayer)
    requireRepeatable(chain, content)
    const request = requestAt(content, now())
    const submission = {
      relayer,
      request,
      actor,
      idempotencyKey: runKey({ id: '', at: now() }),
      lane: content.lane,
    }
    const refusal = refusalOf(await checkSubmission(context, submission))
    if (refusal) throw refusal
    const effects = () => chain.effects(request, relayer.address)
    const reasons =
      content.approval === 'once' ? await findReasonsToWait(db, relayer, { actor, effects }) : []
    const run = await transactions.drySend(relayer, submission)
    return { times, run, reasons: reasons.map(({ subject, rule, detail }) => ({ subject, rule, detail })) }
  }

  async function plan(relayer: Relayer, content: ScheduleContent, actor: Actor): Promise<PlannedSchedule> {
    const { times, run, reasons } = await evaluate(relayer, content, actor)
    const createdAt = now()
    const first = nextTime(times, content, createdAt)
    if (first === undefined)
      throw new AppError(
        'invalid_request',
        'body.ends_at: expected a time after the first run of the schedule.',
      )
    const schedule: Schedule = {
      ...content,
      id: randomUUID(),
      relayerId: relayer.id,
      ...stateOf({ reasons, nextAt: first }),
      reasons: reasons.length === 0 ? undefined : reasons,
      apiKeyId: actor.keyId,
      userId: actor.userId,
      version: 1,
      createdAt,
      updatedAt: createdAt,
      runs: 0,
      cost: run.price?.cost,
    }
    return { schedule, run }
  }

  async function get({ relayerId, id }: ScheduleKey): Promise<Schedule> {
    const found = await findSchedule(db, { relayerId, id })
    if (found === undefined) throw noSchedule(relayerId, id)
    return found
  }

  return {
    plan,
    get,
    create: async (relayer, content, actor) => {
      const { schedule, run } = await plan(relayer, content, actor)
      await transact(db, async (tx) => {
        await requireCapacity(tx, schedule)
        await insertSchedule(tx, schedule)
        await insertScheduleEvent(tx, relayer.id, showNotice(schedule, 'created'))
        const target = targetOf(schedule.id)
        await appendManagement(tx, {
          author: actor,
          action: 'createSchedule',
          target,
          after: showSchedule(schedule),
        })
      })
      return { schedule, logs: logsOf(schedule, run) }
    },
    change: async (relayer, id, { patch, paused, adopts, actor }) => {
      const key = { relayerId: relayer.id, id }
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        const before = await get(key)
        const content = await patch(before)
        const evaluated = adopts ? await evaluate(relayer, content, actor) : undefined
        const saved = await transact(db, async (tx) => {
          if (evaluated) await requireCapacity(tx, { ...before, apiKeyId: actor.keyId })
          const present = await lockSchedule(tx, key)
          if (present === undefined) throw noSchedule(relayer.id, id)
          if (present.version !== before.version) return undefined
          const changed = changedSchedule(present, { content, paused, evaluated, actor, now: now() })
          const change = changed.state === 'paused' && present.state !== 'paused' ? 'paused' : 'changed'
          await save(tx, { before: present, after: changed, change, action: 'updateSchedule', actor })
          return changed
        })
        if (saved !== undefined)
          return { schedule: saved, logs: evaluated ? logsOf(saved, evaluated.run) : [] }
      }
      throw new AppError('in_use', `Schedule ${id} is changed by others all the time; try again.`)
    },
    decide: async (relayer, id, { decision, version, reason }, actor) => {
      const key = { relayerId: relayer.id, id }
      return transact(db, async (tx) => {
        const present = await lockSchedule(tx, key)
        if (present === undefined) throw noSchedule(relayer.id, id)
        if (present.apiKeyId === actor.keyId) throw ownSchedule(actor)
        if (present.state !== 'awaiting_approval' || present.version !== version) throw notWaiting(present)
        const by = callerName(actor.keyId)
        const approved = { ...present, approvedBy: actor.keyId }
        const decided: Schedule =
          decision === 'approve'
            ? { ...approved, ...resumed(approved, now()) }
            : {
                ...present,
                state: 'paused',
                stateReason: `${by} refused it${reason === undefined ? '' : `: ${reason}`}.`.replace(
                  /\.\.$/,
                  '.',
                ),
              }
        const change = decision === 'approve' ? 'approved' : 'refused'
        await save(tx, { before: present, after: decided, change, action: 'decideSchedule', actor })
        return decided
      })
    },
    delete: async (key, actor) => {
      await transact(db, async (tx) => {
        const present = await lockSchedule(tx, key)
        if (present === undefined) throw noSchedule(key.relayerId, key.id)
        await deleteSchedule(tx, key.id)
        await insertScheduleEvent(tx, key.relayerId, showNotice({ ...present, nextAt: undefined }, 'deleted'))
        const before = showSchedule(present)
        await appendManagement(tx, {
          author: actor,
          action: 'deleteSchedule',
          target: targetOf(key.id),
          before,
        })
      })
    },
  }
}

/** The facts about content that can succeed in some run. */
interface Evaluated {
  readonly times: Times
  readonly run: DryRun
  readonly reasons: NonNullable<Schedule['reasons']>
}

interface Changing {
  readonly content: ScheduleContent
  readonly paused: boolean | undefined
  /** Present if the schedule sends in the name of the caller from then on. */
  readonly evaluated: Evaluated | undefined
  readonly actor: Actor
  readonly now: Date
}

function changedSchedule(present: Schedule, { content, paused, evaluated, actor, now }: Changing): Schedule {
  const version = present.version + 1
  const changed: Schedule = { ...present, ...content, version, updatedAt: now }
  if (evaluated !== undefined) Object.assign(changed, adopted(present, { evaluated, actor }))
  const isPaused = paused ?? present.state === 'paused'
  if (isPaused) {
    const reason = present.state === 'paused' ? present.stateReason : `${callerName(actor.keyId)} paused it.`
    return { ...changed, state: 'paused', stateReason: reason, nextAt: undefined }
  }
  if (evaluated === undefined) return changed
  const sameTimes =
    present.nextAt !== undefined &&
    present.cron === changed.cron &&
    present.timezone === changed.timezone &&
    present.endsAt?.getTime() === changed.endsAt?.getTime()
  // A time that has come and is not decided yet stays.
  return { ...changed, ...resumed(changed, now, sameTimes ? present.nextAt : undefined) }
}

/** Returns what changes with the name in which it sends. What was approved is no longer. */
function adopted(
  present: Schedule,
  { evaluated: { reasons, run }, actor }: { readonly evaluated: Evaluated; readonly actor: Actor },
): Partial<Schedule> {
  return {
    apiKeyId: actor.keyId,
    userId: actor.userId,
    reasons: reasons.length === 0 ? undefined : reasons,
    approvedBy: undefined,
    cost: run.price?.cost ?? present.cost,
  }
}

/** Returns the state of a schedule that is not paused. */
function resumed(
  schedule: Schedule,
  now: Date,
  kept?: Date,
): Pick<Schedule, 'state' | 'stateReason' | 'nextAt'> {
  const { lastAt, maxRuns, runs, reasons = [], approvedBy } = schedule
  // No time is decided twice, whatever the clocks say.
  const after = lastAt !== undefined && lastAt > now ? lastAt : now
  const nextAt =
    maxRuns !== undefined && runs >= maxRuns
      ? undefined
      : (kept ?? nextTime(timesOf(schedule), schedule, after))
  return stateOf({ reasons: approvedBy === undefined ? reasons : [], nextAt })
}

function stateOf({
  reasons,
  nextAt,
}: {
  readonly reasons: NonNullable<Schedule['reasons']>
  readonly nextAt: Date | undefined
}): Pick<Schedule, 'state' | 'stateReason' | 'nextAt'> {
  if (nextAt === undefined) return { state: 'completed', stateReason: 'No run is left.', nextAt: undefined }
  if (reasons.length === 0) return { state: 'active', stateReason: undefined, nextAt }
  const details = reasons.map(({ detail }) => detail).join(' ')
  return {
    state: 'awaiting_approval',
    stateReason: `It waits for an approval. ${details}`,
    nextAt: undefined,
  }
}

interface Saving {
  readonly before: Schedule
  readonly after: Schedule
  readonly change: Schemas['SchedulePayload']['change']
  readonly action: 'updateSchedule' | 'decideSchedule'
  readonly actor: Actor
}

async function save(tx: Tx, { before, after, change, action, actor }: Saving): Promise<void> {
  const cleared = after.state === 'active' ? after : { ...after, nextAt: undefined }
  await updateSchedule(tx, cleared)
  await insertScheduleEvent(tx, after.relayerId, showNotice(cleared, change))
  const states = changedFields({ before, after: cleared, show: showSchedule })
  await appendManagement(tx, { author: actor, action, target: targetOf(after.id), ...states })
}

/**
 * The locks make the counts true until the commit. The order is that of database/locks/lock-order.md.
 * @throws AppError `relayer_not_found`, `invalid_request`
 */
async function requireCapacity(tx: Tx, { id, relayerId, apiKeyId }: Schedule): Promise<void> {
  if ((await lockRelayer(tx, relayerId, 'update')) === undefined) throw relayerNotFound(relayerId)
  await lockApiKey(tx, apiKeyId)
  const { ofRelayer, ofKey } = await countSchedules(tx, { relayerId, apiKeyId, except: id })
  const full = (whose: string) =>
    new AppError(
      'invalid_request',
      `${whose} has ${MAX_SCHEDULES} schedules, the maximum; delete one first, also one that is completed.`,
    )
  if (ofRelayer >= MAX_SCHEDULES) throw full(`Relayer ${relayerId}`)
  if (ofKey >= MAX_SCHEDULES) throw full(callerName(apiKeyId))
}

function logsOf({ state, stateReason }: Schedule, { refusal, logs }: DryRun): string[] {
  return [
    ...(state === 'awaiting_approval' && stateReason !== undefined ? [stateReason] : []),
    ...(refusal === undefined ? logs : [`A run would be refused now: ${refusal.detail}`]),
  ]
}

function targetOf(id: string) {
  return { type: 'schedule', id } as const
}

/** Makes the failure for an id that no schedule of the relayer has. */
function noSchedule(relayerId: string, id: string): AppError {
  return new AppError('schedule_not_found', `Relayer ${relayerId} has no schedule ${id}.`)
}

function refusePeople({ person }: Actor): void {
  if (person === undefined) return
  throw new AppError(
    'not_supported',
    'A schedule sends in the name of an API key, because a session ends; create, change or resume it with an API key. You can pause and delete it.',
  )
}

function ownSchedule({ keyId }: Actor): AppError {
  return new AppError(
    'own_approval',
    `The schedule sends in the name of ${callerName(keyId)}; another key or person must decide.`,
  )
}

function notWaiting({ id, version, state }: Schedule): AppError {
  return new AppError(
    'approval_decided',
    `Schedule ${id} is ${state} in version ${version}; read it again, and decide about that version if it waits.`,
  )
}
