import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { DisabledReason, Relayer } from '../relayer.ts'
import { parseDisabledType, toRelayer } from '../relayer-codec.ts'

/** A relayer, and what the database knows of its health. */
export interface HealthSubject {
  readonly relayer: Relayer
  /** Checks that failed in a row; of an enabled relayer, before it was enabled. */
  readonly failedChecks: number
  /** The highest confirmed nonce on the relayer's network, by address. */
  readonly confirmed: ReadonlyMap<string, bigint>
}

/** Every relayer that was not removed, or only the one of this id. */
export async function listSubjects(db: Kysely<Schema>, only?: string): Promise<HealthSubject[]> {
  let relayers = db.selectFrom('relayers').selectAll().where('removed_at', 'is', null)
  if (only !== undefined) relayers = relayers.where('id', '=', only)
  const [rows, confirmed] = await Promise.all([
    relayers.orderBy('created_at').orderBy('id').execute(),
    highestConfirmed(db, only),
  ])
  const sourceAccounts = Map.groupBy(confirmed, ({ relayer_id }) => relayer_id)
  return rows.map((row) => ({
    relayer: toRelayer(row),
    failedChecks: row.failed_checks,
    confirmed: new Map(sourceAccounts.get(row.id)?.map(({ address, nonce }) => [address, nonce])),
  }))
}

/** From the end of the index of nonces: what is in flight lies in front, and the history is never gone through. */
async function highestConfirmed(
  db: Kysely<Schema>,
  only: string | undefined,
): Promise<{ relayer_id: string; address: string; nonce: bigint }[]> {
  const { rows } = await sql<{ relayer_id: string; address: string; nonce: bigint }>`
    select a.relayer_id, a.address, newest.nonce
    from relayers r
    join accounts a on a.relayer_id = r.id
    cross join lateral (
      select t.nonce from transactions t
      where t.relayer_id = r.id and t.network = r.network and t.source_account = a.address and t.nonce is not null
        and t.status = 'confirmed'
      order by t.nonce desc limit 1) newest
    where r.removed_at is null and (${only ?? null}::text is null or r.id = ${only ?? null}::text)`.execute(
    db,
  )
  return rows
}

/** One relayer that was not removed; nobody else changes it until the commit, and transactions of it are accepted all the same. */
export async function lockForHealth(tx: Transaction<Schema>, id: string): Promise<Relayer | undefined> {
  const row = await tx
    .selectFrom('relayers')
    .selectAll()
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row && toRelayer(row)
}

/** A disabled relayer that failed once more. With a reason of the same type: what is to be told of it now. */
export interface FailedAgain {
  readonly id: string
  readonly reason?: DisabledReason
}

/** Counts one more failed check of each. Tells nobody: nothing that anybody waits for has changed. */
export async function countFailedChecks(db: Kysely<Schema>, failed: readonly FailedAgain[]): Promise<void> {
  if (failed.length === 0) return
  const ids = failed.map(({ id }) => id)
  const reasons = failed.map(({ reason }) => (reason === undefined ? null : JSON.stringify(reason)))
  await sql`
    update relayers r
    set failed_checks = r.failed_checks + 1,
      disabled_reason = case
        when r.disabled_reason->>'type' = f.reason::jsonb->>'type' then f.reason::jsonb
        else r.disabled_reason end
    from unnest(${ids}::text[], ${reasons}::text[]) as f (id, reason)
    where r.id = f.id and r.system_disabled and r.removed_at is null`.execute(db)
}

/** How many relayers there are, and how many of them are disabled for which type of reason. */
export interface DisabledCounts {
  readonly total: number
  readonly byType: ReadonlyMap<DisabledReason['type'], number>
}

/** Of the relayers that were not removed. */
export async function countDisabled(db: Kysely<Schema>): Promise<DisabledCounts> {
  const { rows } = await sql<{ type: string | null; count: bigint }>`
    select case when system_disabled then disabled_reason->>'type' end as type, count(*) as count
    from relayers where removed_at is null group by 1 order by 1`.execute(db)
  return {
    total: rows.reduce((sum, { count }) => sum + Number(count), 0),
    byType: new Map(
      rows.flatMap(({ type, count }) => (type === null ? [] : [[parseDisabledType(type), Number(count)]])),
    ),
  }
}
