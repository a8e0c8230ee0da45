import { type Selectable, sql } from 'kysely'
import { seesEverything, type Visibility } from '../access/principal.ts'
import { ofVisibleRelayer } from '../access/visibility-store.ts'
import type { Db } from '../database/db.ts'
import type { AlertsTable } from '../database/tables/events.ts'
import type { RelayersTable } from '../database/tables/relayers.ts'
import { slicesOf } from '../lib/object.ts'
import { networkId, parseNetworkType } from '../networks/network.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { toRelayer } from '../relayers/relayer-codec.ts'
import { decodeRules } from '../spending/rule-table.ts'
import type { SpendingRules } from '../spending/rules.ts'
import {
  type AlertChanges,
  type AlertDetail,
  type AlertKey,
  type AlertKind,
  type AlertNotice,
  type AlertReceiver,
  beginNotice,
  type EndedAlert,
  endNotice,
  type OpenAlert,
} from './alert.ts'
import type { WatchedState } from './watched-states.ts'

/**
 * The most alerts of one statement. The embedded database keeps for ever what it once needed for one, about 4
 * kB for each alert.
 */
const MAX_ALERTS = 250

/** Reads every alert that fires. */
export async function findOpenAlerts(db: Db): Promise<OpenAlert[]> {
  return (await db.selectFrom('alerts').selectAll().execute()).map(toOpenAlert)
}

interface ListQuery {
  /** Alerts of other relayers, and those not about one relayer, are omitted. */
  readonly visibility: Visibility
  readonly offset: number
  readonly limit: number
}

/** Lists the alerts that fire, the oldest first. `total` counts all of them. */
export async function listAlerts(
  db: Db,
  { visibility, offset, limit }: ListQuery,
): Promise<{ items: OpenAlert[]; total: number }> {
  let visible = db.selectFrom('alerts')
  if (!seesEverything(visibility)) visible = visible.where(ofVisibleRelayer(visibility, 'alerts.relayer_id'))
  const [rows, { total }] = await Promise.all([
    visible
      .selectAll()
      .orderBy('since')
      .orderBy('kind')
      .orderBy('subject')
      .offset(offset)
      .limit(limit)
      .execute(),
    visible.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { items: rows.map(toOpenAlert), total: Number(total) }
}

/** Counts the alerts that fire, by kind. */
export async function countAlerts(db: Db): Promise<Map<AlertKind, number>> {
  const rows = await db
    .selectFrom('alerts')
    .select((eb) => ['kind', eb.fn.countAll<bigint>().as('count')])
    .groupBy('kind')
    .execute()
  return new Map(rows.map(({ kind, count }) => [kind as AlertKind, Number(count)]))
}

/**
 * Stores alerts that begin, each in one statement with its events (I8). Those that fire already are left out,
 * so that two processes with the same finding write one event. Returns those that were stored.
 */
export async function beginAlerts(db: Db, begun: AlertChanges['begun']): Promise<AlertKey[]> {
  const stored: AlertKey[] = []
  for (const slice of slicesOf(begun, MAX_ALERTS)) stored.push(...(await insertAlerts(db, slice)))
  return stored
}

async function insertAlerts(db: Db, begun: AlertChanges['begun']): Promise<AlertKey[]> {
  const { rows } = await sql<AlertKey>`
    with changed as (
      insert into alerts (kind, subject, since, relayer_id, notifications, detail)
      select kind, subject, since, detail ->> 'relayer_id', notifications, detail
      from jsonb_to_recordset(${JSON.stringify(begun)}::jsonb)
        as begun (kind text, subject text, since timestamptz, notifications jsonb, detail jsonb)
      on conflict do nothing
      returning kind, subject),
    told as (${insertEvents(begun.map((alert) => ({ ...alert, payload: beginNotice(alert) })))})
    select kind, subject from changed`.execute(db)
  return rows
}

/**
 * Deletes alerts that end, each in one statement with its events (I8). Returns those that were still there.
 */
export async function endAlerts(db: Db, ended: readonly EndedAlert[]): Promise<AlertKey[]> {
  const deleted: AlertKey[] = []
  for (const slice of slicesOf(ended, MAX_ALERTS)) deleted.push(...(await deleteAlerts(db, slice)))
  return deleted
}

async function deleteAlerts(db: Db, ended: readonly EndedAlert[]): Promise<AlertKey[]> {
  const { rows } = await sql<AlertKey>`
    with changed as (
      delete from alerts using jsonb_to_recordset(${JSON.stringify(ended)}::jsonb) as ended (kind text, subject text)
      where alerts.kind = ended.kind and alerts.subject = ended.subject
      returning alerts.kind, alerts.subject),
    told as (${insertEvents(ended.map((alert) => ({ ...alert, payload: endNotice(alert) })))})
    select kind, subject from changed`.execute(db)
  return rows
}

interface Told extends OpenAlert {
  readonly payload: AlertNotice
}

/**
 * Writes an event of each changed alert for each of its notifications that exists, or one without a
 * notification.
 */
function insertEvents(alerts: readonly Told[]) {
  return sql`
    insert into events (relayer_id, transaction_id, notification_id, type, payload)
    select payload ->> 'relayer_id', payload ->> 'transaction_id', recipients.id, 'alert', payload
    from jsonb_to_recordset(${JSON.stringify(alerts)}::jsonb)
      as alert (kind text, subject text, notifications jsonb, payload jsonb)
    join changed using (kind, subject)
    left join lateral (
      select notifications.id from jsonb_array_elements_text(alert.notifications) as named (id)
      join notifications on notifications.id = named.id
      order by notifications.id) recipients on true`
}

function toOpenAlert(row: Selectable<AlertsTable>): OpenAlert {
  return {
    kind: row.kind as AlertKind,
    subject: row.subject,
    since: row.since,
    notifications: row.notifications,
    // The service wrote it itself.
    detail: row.detail as AlertDetail,
  }
}

/** Reads the notifications that get the alerts of every subject. */
export async function readAlertReceivers(db: Db): Promise<AlertReceiver[]> {
  const rows = await db
    .selectFrom('notifications')
    .select(['id', 'alerts'])
    .where('type', '<>', 'webhook')
    .orderBy('id')
    .execute()
  // The contract, or the reader of the file, has checked the names.
  return rows.map(({ id, alerts }) => ({
    id,
    kinds: (alerts ?? undefined) as readonly AlertKind[] | undefined,
  }))
}

/** Reads the content of events of type `alert`, by event number. */
export async function readAlertNotices(
  db: Db,
  eventNumbers: readonly bigint[],
): Promise<Map<bigint, AlertNotice>> {
  if (eventNumbers.length === 0) return new Map()
  const rows = await db
    .selectFrom('events')
    .select(['number', 'payload'])
    .where(sql<boolean>`number = any(${eventNumbers}::bigint[])`)
    .execute()
  // The service wrote the payload itself.
  return new Map(rows.map(({ number, payload }) => [number, payload as AlertNotice]))
}

/** Reads the states that a process has stored. */
export async function findWatchedStates(db: Db): Promise<WatchedState[]> {
  const rows = await db.selectFrom('watched_states').selectAll().execute()
  return rows.map(({ kind, subject, state, since, seen_at }) => ({
    kind: kind as AlertKind,
    subject,
    state,
    since,
    seenAt: seen_at,
  }))
}

/** Stores these states and forgets all others, in one statement. */
export async function saveWatchedStates(db: Db, states: readonly WatchedState[]): Promise<void> {
  await sql`
    with wanted as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(states)}::jsonb)
        as wanted (kind text, subject text, state text, since timestamptz, "seenAt" timestamptz)),
    forgotten as (
      delete from watched_states s
      where not exists (select from wanted w where w.kind = s.kind and w.subject = s.subject))
    insert into watched_states (kind, subject, state, since, seen_at)
    select kind, subject, state, since, "seenAt" from wanted
    on conflict (kind, subject) do update
      set state = excluded.state, since = excluded.since, seen_at = excluded.seen_at`.execute(db)
}

/**
 * Reads the relayers that are disabled, or have a `warn_balance` or spending limits. The condition is that of
 * the index.
 */
export async function findAlertingRelayers(db: Db): Promise<Relayer[]> {
  const { rows } = await sql<Selectable<RelayersTable>>`
    select * from relayers
    where removed_at is null and (system_disabled or policies ? 'warnBalance' or policies -> 'rules' ? 'limits')
    order by id`.execute(db)
  return rows.map(toRelayer)
}

/** A transaction that blocks its account. */
export interface StuckTransaction {
  readonly id: string
  readonly relayerId: string
  /** By type and name. */
  readonly network: string
  readonly notificationId?: string | undefined
  readonly since: Date
}

/** Reads the transactions that block the accounts of present relayers. */
export async function readStuckTransactions(db: Db): Promise<StuckTransaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .innerJoin('relayers', 'relayers.id', 'transactions.relayer_id')
    .select([
      'transactions.id',
      'transactions.relayer_id',
      'transactions.stuck_since',
      'relayers.network_type',
      'relayers.network',
      'relayers.notification_id',
    ])
    .where('transactions.stuck_since', 'is not', null)
    .where('transactions.status', 'in', ['pending', 'sent', 'submitted'])
    .where('relayers.removed_at', 'is', null)
    .orderBy('transactions.stuck_since')
    .execute()
  return rows.flatMap((row) =>
    row.stuck_since === null
      ? []
      : {
          id: row.id,
          relayerId: row.relayer_id,
          network: networkId({ type: parseNetworkType(row.network_type), name: row.network }),
          notificationId: row.notification_id ?? undefined,
          since: row.stuck_since,
        },
  )
}

/** An API key with spending limits. */
interface LimitedApiKey {
  readonly id: string
  /** The networks that it is limited to, by type and name. */
  readonly networks: readonly string[]
  readonly rules: SpendingRules
}

/** Reads the API keys that may be used and have spending limits. */
export async function findLimitedApiKeys(db: Db): Promise<LimitedApiKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'networks', 'rules'])
    .where('deleted_at', 'is', null)
    .where('disabled', '=', false)
    .where(sql<boolean>`rules ? 'limits'`)
    .orderBy('id')
    .execute()
  return rows.map(({ id, networks, rules }) => ({ id, networks: networks ?? [], rules: decodeRules(rules) }))
}
