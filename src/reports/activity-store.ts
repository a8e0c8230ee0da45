import { sql } from 'kysely'
import type { Visibility } from '../access/principal.ts'
import { visibleRelayer } from '../access/visibility-store.ts'
import type { Db } from '../database/db.ts'

/**
 * The most transactions that one answer counts, the newest of the period. It bounds the statement: 50,000
 * take about half a second on PostgreSQL, however many are stored.
 */
const MAX_COUNTED = 50_000

/** The most groups with rows of their own. The others are counted together, so that a chart can show them. */
const MAX_GROUPS = 10

/** The length of a step. */
export type Step = 'hour' | 'day'

/** Selects what is counted. */
export interface ActivityQuery {
  /** The earliest time of acceptance, included. */
  readonly from: Date
  /** The end of the time, excluded. */
  readonly to: Date
  readonly step: Step
  /** By what transactions are counted separately, besides the network. */
  readonly by: 'network' | 'relayer' | 'api_key'
  readonly visibility: Visibility
}

/** The transactions that were accepted in one step, on one network, of one group. */
export interface ActivityRow {
  /** The start of the step. */
  readonly start: Date
  /** By type and name. */
  readonly network: string
  /** The id of the relayer or API key; null for the service itself, or without groups. */
  readonly name: string | null
  /** The row counts the groups together that have none of their own. */
  readonly isOthers: boolean
  readonly accepted: number
  readonly confirmed: number
  readonly failed: number
  readonly canceled: number
  readonly expired: number
  /** The fees that blocks charged the accounts, in the smallest unit. */
  readonly fees: bigint
  /** The included transactions whose fee no node has told. */
  readonly unknownFees: number
  /**
   * The time from the acceptance to the block, in ms: the median, and what 95 % are below; null without one.
   */
  readonly waitMedianMs: number | null
  readonly waitP95Ms: number | null
}

/** The activity of a period. */
export interface Activity {
  readonly rows: readonly ActivityRow[]
  /** Earlier transactions were not counted, because there are too many; undefined if all were. */
  readonly completeFrom: Date | undefined
}

/**
 * Counts what was accepted in a period, by steps of time. It reads the primary key backwards from the end of
 * the period, whose ids are in the order of acceptance (UUIDv7), and at most `MAX_COUNTED` rows of it.
 */
export async function readActivity(db: Db, query: ActivityQuery): Promise<Activity> {
  const completeFrom = await findCompleteFrom(db, query)
  const { rows } = await activityStatement(query).execute(db)
  return { rows: rows.map(toRow), completeFrom }
}

/** Counts the newest transactions of a period, each step, network and group in one row. */
function activityStatement(query: ActivityQuery) {
  return sql<StoredRow>`
    with newest as materialized (
      select id, relayer_id, requested_by, network, from_address, created_at, valid_from, released_at, block_time, status,
        current_attempt, reset_at
      from transactions where ${inPeriod(query)} order by id desc limit ${MAX_COUNTED}),
    counted as materialized (
      select date_bin(${sql.lit(INTERVALS[query.step])}::interval, newest.created_at, timestamptz 'epoch') as start,
        relayers.network_type || ':' || newest.network as network,
        ${NAMES[query.by]} as name, newest.status, ${FEE} as fee,
        attempts.outcome in ('mined', 'reverted') as included,
        1000 * extract(epoch from newest.block_time - greatest(newest.created_at, newest.valid_from, newest.released_at))::float8 as wait_ms
      from newest
      join relayers on relayers.id = newest.relayer_id
      left join attempts on attempts.transaction_id = newest.id and attempts.number = newest.current_attempt
      where newest.reset_at is null and ${visibleRelayer(query.visibility)}),
    own as materialized (
      select coalesce(name, '') as key from counted group by name order by count(*) desc, name limit ${MAX_GROUPS})
    select start, network, case when own.key is not null then name end as name, own.key is null as is_others,
      count(*) as accepted,
      count(*) filter (where status = 'confirmed') as confirmed,
      count(*) filter (where status = 'failed') as failed,
      count(*) filter (where status = 'canceled') as canceled,
      count(*) filter (where status = 'expired') as expired,
      coalesce(sum(fee), 0)::text as fees,
      count(*) filter (where included and fee is null) as unknown_fees,
      percentile_disc(0.5) within group (order by wait_ms) as wait_median,
      percentile_disc(0.95) within group (order by wait_ms) as wait_p95
    from counted
    left join own on own.key = coalesce(counted.name, '')
    group by 1, 2, 3, 4 order by start, network, is_others, name`
}

const INTERVALS = { hour: '1 hour', day: '1 day' } as const satisfies Record<Step, string>

const NAMES = {
  network: sql<string | null>`null::text`,
  relayer: sql<string>`relayers.pool_id`,
  api_key: sql<string | null>`newest.requested_by`,
} as const

/**
 * The fee that the account paid, of what nodes told (`spendingOf` of the spending report): Stellar tells which
 * account paid, and the bytes of Solana bound what a node tells. Null where no node told a fee.
 */
const FEE = sql`case
  when attempts.outcome not in ('mined', 'reverted') or ${chargedIn('attempts.result', 'feeCharged')} is null then null
  when attempts.result ->> 'feeAccount' <> newest.from_address then 0
  else least(${chargedIn('attempts.result', 'feeCharged')}, ${chargedIn('attempts.draft', 'fee')}) end`

/** An integer of stored JSON (`toExactJson`); null if it is absent. */
function chargedIn(column: string, field: string) {
  return sql`(${sql.ref(column)} -> ${sql.lit(field)} ->> '$int')::numeric`
}

/** The ids of a period, by the milliseconds with which a UUIDv7 begins. */
function inPeriod({ from, to }: Pick<ActivityQuery, 'from' | 'to'>) {
  return sql<boolean>`transactions.id >= ${idAt(from)} and transactions.id < ${idAt(to)}`
}

function idAt(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-`
}

/**
 * The time of the oldest transaction that is counted, if there are older ones in the period. It reads only
 * the index.
 */
async function findCompleteFrom(db: Db, query: ActivityQuery): Promise<Date | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from transactions
    where ${inPeriod(query)} order by id desc offset ${MAX_COUNTED - 1} limit 2`.execute(db)
  const [oldest, older] = rows
  return oldest && older && timeOf(oldest.id)
}

function timeOf(id: string): Date {
  return new Date(Number.parseInt(`${id.slice(0, 8)}${id.slice(9, 13)}`, 16))
}

interface StoredRow {
  readonly start: Date
  readonly network: string
  readonly name: string | null
  readonly is_others: boolean
  readonly accepted: bigint
  readonly confirmed: bigint
  readonly failed: bigint
  readonly canceled: bigint
  readonly expired: bigint
  readonly fees: string
  readonly unknown_fees: bigint
  readonly wait_median: number | null
  readonly wait_p95: number | null
}

function toRow(row: StoredRow): ActivityRow {
  return {
    start: row.start,
    network: row.network,
    name: row.name,
    isOthers: row.is_others,
    accepted: Number(row.accepted),
    confirmed: Number(row.confirmed),
    failed: Number(row.failed),
    canceled: Number(row.canceled),
    expired: Number(row.expired),
    fees: BigInt(row.fees),
    unknownFees: Number(row.unknown_fees),
    waitMedianMs: toMs(row.wait_median),
    waitP95Ms: toMs(row.wait_p95),
  }
}

function toMs(wait: number | null): number | null {
  // A block can state a time before the acceptance: its clock is another one.
  return wait === null ? null : Math.max(0, Math.round(wait))
}
