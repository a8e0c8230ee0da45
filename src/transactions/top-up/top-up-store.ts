import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import type { ErrorCode } from '../../errors.ts'
import { larger } from '../../lib/bigint.ts'
import { oneOf } from '../../lib/exhaustive.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Transaction } from '../model/transaction.ts'
import { isFinal } from '../model/transitions.ts'
import { type TransactionRow, toTransaction } from '../store/codec.ts'
import { IS_OPEN } from '../store/due-store.ts'

/**
 * The maximum number of top-ups that are read. Each follows the confirmation of the previous one, so this
 * many within a day are unintended.
 */
const MOST = 10_000

/**
 * Reads the top-ups of a relayer on the current chain of its network, newest first: the newest one, the last
 * confirmed one, those of the last 24 hours, and those that are open.
 */
export async function readTopUps(
  db: Db,
  { id, network, networkType }: Pick<Relayer, 'id' | 'network' | 'networkType'>,
  now: number,
): Promise<Transaction[]> {
  const since = new Date(now - DAY_MS)
  const own = sql`top_up_of = ${id} and network = ${network} and reset_at is null and request->>'type' = ${networkType}`
  const { rows } = await sql<TransactionRow>`
    select * from transactions
    where ${own} and (
      ${IS_OPEN} or coalesce(confirmed_at, created_at) >= ${since}
      or reorganized_at is not null
      or position = (select max(position) from transactions where ${own})
      or position = (select max(position) from transactions where ${own} and phase = 'confirmed'))
    order by position desc limit ${MOST}`.execute(db)
  return rows.map(toTransaction)
}

/** A relayer that another one fills. */
export interface Filled {
  readonly id: string
  /** The service last decided that it has enough. */
  readonly hadEnough: boolean
}

/** Lists the relayers that another one fills, without the paused ones. */
export async function listFilled(db: Db): Promise<Filled[]> {
  const { rows } = await sql<{ id: string; had_enough: boolean }>`
    select r.id, coalesce(t.state = 'enough', false) as had_enough
    from relayers r left join top_ups t on t.relayer_id = r.id
    where r.removed_at is null and not r.paused and r.policies->'topUp' is not null order by r.id`.execute(db)
  return rows.map(({ id, had_enough }) => ({ id, hadEnough: had_enough }))
}

/** Reads what the service last decided; undefined before its first decision. */
export async function readTopUpState(db: Db, relayerId: string): Promise<StoredTopUpState | undefined> {
  const row = await db
    .selectFrom('top_ups')
    .selectAll()
    .where('relayer_id', '=', relayerId)
    .executeTakeFirst()
  return (
    row &&
    omitUndefined({
      state: oneOf(TOP_UP_STATES, row.state, 'state of a top-up'),
      // The service wrote the code itself.
      code: (row.code as ErrorCode | null) ?? undefined,
      transactionId: row.transaction_id ?? undefined,
      retryAt: row.retry_at ?? undefined,
      failures: row.failures,
    })
  )
}

/**
 * Writes the service's decision. It is only a report: what may be paid follows from the stored transactions.
 */
export async function saveTopUpState(
  db: Db,
  relayerId: string,
  { state, code, transactionId, retryAt, failures }: StoredTopUpState,
): Promise<void> {
  const values = {
    state,
    code: code ?? null,
    transaction_id: transactionId ?? null,
    retry_at: retryAt ?? null,
    failures,
    changed_at: new Date(),
  }
  await db
    .insertInto('top_ups')
    .values({ relayer_id: relayerId, ...values })
    .onConflict((conflict) => conflict.column('relayer_id').doUpdateSet(values))
    .execute()
}

/** Every state of a top-up; the contract lists the same. */
const TOP_UP_STATES = ['enough', 'pending', 'limit_reached', 'waiting', 'refused'] as const

/**
 * The last decision about a relayer that another one refills. `enough`: the balance is not below the rule ·
 * `pending`: a payment is not final · `limit_reached`: nothing is left of the amount of 24 hours · `waiting`:
 * the last payment did not succeed, and the next one follows later · `refused`: the treasury may not or
 * cannot pay, and is tried again later.
 */
export interface TopUpState {
  readonly state: (typeof TOP_UP_STATES)[number]
  /** The code of the refusal. Its text stays in the log, because it is about the treasury. */
  readonly code?: ErrorCode | undefined
  /** The payment that is pending, or did not succeed. */
  readonly transactionId?: string | undefined
  /** The service does not try again before this time. */
  readonly retryAt?: Date | undefined
}

/** A state as it is stored. */
export interface StoredTopUpState extends TopUpState {
  /** The number of refusals in a row. */
  readonly failures: number
}

/**
 * The longest wait after a failure, in ms. After the treasury is filled, nothing should wait longer than
 * this.
 */
const LONGEST_WAIT_MS = 600_000

/**
 * Returns the wait after this many failures in a row, in ms: it doubles from one interval of health checks.
 * Pure.
 */
export function waitAfter(failures: number, intervalMs: number): number {
  return Math.min(intervalMs * 2 ** Math.min(failures - 1, 20), LONGEST_WAIT_MS)
}

/** The period of `max_per_day`, in ms. */
const DAY_MS = 24 * 3_600_000

/** What is known of the earlier top-ups of a relayer. */
export interface TopUpHistory {
  /** The newest one, in any status. A decision is valid only while it is still the newest. */
  readonly newest: Transaction | undefined
  /**
   * One that may still be included, or that left the chain after it was confirmed; no other top-up begins
   * before it ends.
   */
  readonly open: Transaction | undefined
  /**
   * The height of the last block that includes one: the balance from a node that has not reached it does not
   * count.
   */
  readonly asOf: bigint | undefined
  /** The number of those after the last confirmed one, which all ended without moving anything. */
  readonly failures: number
  /** The amount of the last 24 hours, those of `open` included, in the smallest unit. */
  readonly paid: bigint
}

/**
 * Summarises top-ups, newest first: the newest one, and every other one that is open or of the last 24 hours.
 * Pure.
 */
export function toHistory(
  transactions: readonly Transaction[],
  amountOf: (transaction: Transaction) => bigint,
  now: number,
): TopUpHistory {
  const confirmed = transactions.filter(({ status }) => status === 'confirmed')
  const lastConfirmed = transactions.findIndex(({ status }) => status === 'confirmed')
  const paying = transactions.filter((one) => isOpen(one) || (hasPaid(one) && now - timeOf(one) < DAY_MS))
  const heights = confirmed.flatMap(({ block }) => block?.number ?? [])
  return {
    newest: transactions[0],
    open: transactions.find(isOpen),
    asOf: heights.length === 0 ? undefined : heights.reduce(larger),
    failures: lastConfirmed === -1 ? transactions.length : lastConfirmed,
    paid: paying.reduce((sum, one) => sum + amountOf(one), 0n),
  }
}

function isOpen({ status, reorganizedAt }: Transaction): boolean {
  return !isFinal(status) || (status === 'confirmed' && reorganizedAt !== undefined)
}

function hasPaid({ status }: Transaction): boolean {
  return status === 'confirmed'
}

function timeOf({ confirmedAt, createdAt }: Transaction): number {
  return (confirmedAt ?? createdAt).getTime()
}
