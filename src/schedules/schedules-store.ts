import { type Selectable, sql } from 'kysely'
import type { Visibility } from '../access/principal.ts'
import { ofVisibleRelayer } from '../access/visibility-store.ts'
import type { Schemas } from '../contract/operations.ts'
import type { Db, Tx } from '../database/db.ts'
import { storableText } from '../database/sql-helpers.ts'
import type { ScheduleRunsTable, SchedulesTable } from '../database/tables/schedules.ts'
import type { ErrorCode } from '../errors.ts'
import { fromExactJson, toExactJson } from '../lib/json.ts'
import { omitUndefined } from '../lib/object.ts'
import { decodeRequest, encodeRequest } from '../transactions/store/codec.ts'
import type { Schedule, ScheduleRun } from './schedule.ts'

/** The channel on which the database announces that the next time of a schedule has changed. */
export const SCHEDULES_CHANNEL = 'schedules_changed'

/** The runs of a schedule that are kept; older ones are deleted. */
const KEPT_RUNS = 1_000

interface Key {
  readonly relayerId: string
  readonly id: string
}

/** Finds a schedule of a relayer. */
export async function findSchedule(db: Db, { relayerId, id }: Key): Promise<Schedule | undefined> {
  const row = await db
    .selectFrom('schedules')
    .selectAll()
    .where('id', '=', id)
    .where('relayer_id', '=', relayerId)
    .executeTakeFirst()
  return row && toSchedule(row)
}

/** Locks a schedule against other changes until the commit, and returns it. */
export async function lockSchedule(tx: Tx, { relayerId, id }: Key): Promise<Schedule | undefined> {
  // The order of locks: database/locks/lock-order.md.
  const row = await tx
    .selectFrom('schedules')
    .selectAll()
    .where('id', '=', id)
    .where('relayer_id', '=', relayerId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row && toSchedule(row)
}

interface ListQuery {
  readonly visibility: Visibility
  readonly relayerId?: string | undefined
  readonly state?: Schedule['state'] | undefined
  readonly offset: number
  readonly limit: number
}

/** Lists schedules in the order of their creation, then id. `total` counts all of them. */
export async function listSchedules(
  db: Db,
  { visibility, relayerId, state, offset, limit }: ListQuery,
): Promise<{ items: Schedule[]; total: number }> {
  const found = db
    .selectFrom('schedules')
    .where(ofVisibleRelayer(visibility, 'schedules.relayer_id'))
    .$if(relayerId !== undefined, (query) => query.where('relayer_id', '=', relayerId ?? ''))
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? ''))
  const [rows, { total }] = await Promise.all([
    found.selectAll().orderBy('created_at').orderBy('id').offset(offset).limit(limit).execute(),
    found.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { items: rows.map(toSchedule), total: Number(total) }
}

/** Counts the schedules of a relayer, and those of an API key but one. */
export async function countSchedules(
  db: Db,
  { relayerId, apiKeyId, except }: { relayerId: string; apiKeyId: string; except: string },
): Promise<{ ofRelayer: number; ofKey: number }> {
  const { rows } = await sql<{ of_relayer: bigint; of_key: bigint }>`
    select count(*) filter (where relayer_id = ${relayerId}) as of_relayer,
      count(*) filter (where api_key_id = ${apiKeyId}) as of_key
    from schedules where id <> ${except} and (relayer_id = ${relayerId} or api_key_id = ${apiKeyId})`.execute(
    db,
  )
  return { ofRelayer: Number(rows[0]?.of_relayer ?? 0n), ofKey: Number(rows[0]?.of_key ?? 0n) }
}

/** Stores a new schedule. */
export async function insertSchedule(tx: Tx, schedule: Schedule): Promise<void> {
  const { id, relayerId, createdAt } = schedule
  await tx
    .insertInto('schedules')
    .values({ id, relayer_id: relayerId, created_at: createdAt, ...columnsOf(schedule) })
    .execute()
}

/** Overwrites what can change of a schedule, which the caller has locked. */
export async function updateSchedule(tx: Tx, schedule: Schedule): Promise<void> {
  await tx.updateTable('schedules').set(columnsOf(schedule)).where('id', '=', schedule.id).execute()
}

/** Deletes a schedule with the record of its runs. Its transactions stay. */
export async function deleteSchedule(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('schedules').where('id', '=', id).execute()
}

/** Stores what became of times, and forgets the oldest ones beyond the number that is kept. */
export async function insertRuns(tx: Tx, scheduleId: string, runs: readonly ScheduleRun[]): Promise<void> {
  if (runs.length === 0) return
  await tx
    .insertInto('schedule_runs')
    .values(
      runs.map((run) => ({
        schedule_id: scheduleId,
        scheduled_at: run.scheduledAt,
        outcome: run.outcome,
        decided_at: run.decidedAt,
        transaction_id: run.transactionId ?? null,
        code: run.code ?? null,
        reason: run.reason === undefined ? null : storableText(run.reason),
        times: run.times,
      })),
    )
    .execute()
  await sql`
    delete from schedule_runs where schedule_id = ${scheduleId} and scheduled_at <= (
      select scheduled_at from schedule_runs where schedule_id = ${scheduleId}
      order by scheduled_at desc offset ${KEPT_RUNS} limit 1)`.execute(tx)
}

/** Lists what became of the times of a schedule, the newest first. `total` counts all of them. */
export async function listRuns(
  db: Db,
  { id, offset, limit }: { readonly id: string; readonly offset: number; readonly limit: number },
): Promise<{ items: ScheduleRun[]; total: number }> {
  const found = db.selectFrom('schedule_runs').where('schedule_id', '=', id)
  const [rows, { total }] = await Promise.all([
    found.selectAll().orderBy('scheduled_at', 'desc').offset(offset).limit(limit).execute(),
    found.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { items: rows.map(toRun), total: Number(total) }
}

/** Returns the earliest time at which a schedule runs; undefined if none is active. */
export async function findNextTime(db: Db): Promise<Date | undefined> {
  const row = await db
    .selectFrom('schedules')
    .select('next_at')
    .where('next_at', 'is not', null)
    .orderBy('next_at')
    .limit(1)
    .executeTakeFirst()
  return row?.next_at ?? undefined
}

/** Finds schedules whose time has come, those that wait longest first. */
export async function findDueSchedules(
  db: Db,
  { now, limit, except }: { readonly now: Date; readonly limit: number; readonly except: readonly string[] },
): Promise<Schedule[]> {
  const rows = await db
    .selectFrom('schedules')
    .selectAll()
    .where('next_at', '<=', now)
    .where(sql<boolean>`id <> all(${except as string[]}::text[])`)
    .orderBy('next_at')
    .limit(limit)
    .execute()
  return rows.map(toSchedule)
}

/** Stores the event that something became of a schedule, for the notification of its relayer (I8). */
export async function insertScheduleEvent(
  tx: Tx,
  relayerId: string,
  payload: Schemas['SchedulePayload'],
): Promise<void> {
  await sql`
    insert into events (relayer_id, notification_id, type, payload)
    select id, notification_id, 'schedule_update', ${JSON.stringify(payload)}::jsonb
    from relayers where id = ${relayerId}`.execute(tx)
}

/** Reads the payloads of events about schedules by the numbers of the events. */
export async function readScheduleNotices(
  db: Db,
  numbers: readonly bigint[],
): Promise<ReadonlyMap<bigint, Schemas['SchedulePayload']>> {
  if (numbers.length === 0) return new Map()
  const rows = await db
    .selectFrom('events')
    .select(['number', 'payload'])
    .where('number', 'in', numbers)
    .execute()
  // The service wrote them itself.
  return new Map(rows.map(({ number, payload }) => [number, payload as Schemas['SchedulePayload']]))
}

function columnsOf(schedule: Schedule) {
  return {
    name: schedule.name ?? null,
    cron: schedule.cron,
    timezone: schedule.timezone,
    request: JSON.stringify(encodeRequest(schedule.request)),
    body: JSON.stringify(toExactJson(schedule.body)),
    valid_for_seconds: schedule.validForSeconds ?? null,
    missed: schedule.missed,
    overlap: schedule.overlap,
    approval: schedule.approval,
    ends_at: schedule.endsAt ?? null,
    max_runs: schedule.maxRuns ?? null,
    state: schedule.state,
    state_reason: schedule.stateReason === undefined ? null : storableText(schedule.stateReason),
    api_key_id: schedule.apiKeyId,
    user_id: schedule.userId ?? null,
    reasons: schedule.reasons === undefined ? null : JSON.stringify(schedule.reasons),
    approved_by: schedule.approvedBy ?? null,
    version: schedule.version,
    updated_at: schedule.updatedAt,
    next_at: schedule.nextAt ?? null,
    last_at: schedule.lastAt ?? null,
    runs: schedule.runs,
    last_transaction_id: schedule.lastTransactionId ?? null,
    cost: schedule.cost ?? null,
  }
}

function toSchedule(row: Selectable<SchedulesTable>): Schedule {
  const body = fromExactJson(row.body) as Schedule['body'] &
    Pick<Schedule, 'lane' | 'reference' | 'description'>
  // The service wrote every value itself.
  return omitUndefined({
    id: row.id,
    relayerId: row.relayer_id,
    name: row.name ?? undefined,
    cron: row.cron,
    timezone: row.timezone,
    request: decodeRequest(row.request),
    body,
    lane: body.lane,
    reference: body.reference,
    description: body.description,
    validForSeconds: row.valid_for_seconds ?? undefined,
    missed: row.missed as Schedule['missed'],
    overlap: row.overlap as Schedule['overlap'],
    approval: row.approval as Schedule['approval'],
    endsAt: row.ends_at ?? undefined,
    maxRuns: row.max_runs ?? undefined,
    state: row.state as Schedule['state'],
    stateReason: row.state_reason ?? undefined,
    apiKeyId: row.api_key_id,
    userId: row.user_id ?? undefined,
    reasons: (row.reasons as Schedule['reasons'] | null) ?? undefined,
    approvedBy: row.approved_by ?? undefined,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    nextAt: row.next_at ?? undefined,
    lastAt: row.last_at ?? undefined,
    runs: row.runs,
    lastTransactionId: row.last_transaction_id ?? undefined,
    cost: row.cost ?? undefined,
  })
}

function toRun(row: Selectable<ScheduleRunsTable>): ScheduleRun {
  return omitUndefined({
    scheduledAt: row.scheduled_at,
    outcome: row.outcome as ScheduleRun['outcome'],
    decidedAt: row.decided_at,
    transactionId: row.transaction_id ?? undefined,
    code: (row.code as ErrorCode | null) ?? undefined,
    reason: row.reason ?? undefined,
    times: row.times,
  })
}
