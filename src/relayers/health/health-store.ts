import { sql } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import type { DisabledReason, Relayer } from '../relayer.ts'
import { parseDisabledType, toRelayer } from '../relayer-codec.ts'

/** A relayer with the part of its health that the database holds. */
export interface HealthSubject {
  readonly relayer: Relayer
  /** The number of checks that failed in a row; for an enabled relayer, before it was enabled. */
  readonly failedChecks: number
  /** The highest confirmed nonce on the relayer's network, by address. */
  readonly confirmed: ReadonlyMap<string, bigint>
  /**
   * The next nonce that the service assigns, by address; without accounts whose counter must be read from the
   * chain.
   */
  readonly assigned: ReadonlyMap<string, bigint>
  /**
   * The nonce up to which the stored numbers of an account explain what the chain has used, by address. It
   * grows until the chain is reset.
   */
  readonly explained: ReadonlyMap<string, bigint>
}

/** Reads the ids of the relayers that were not removed, oldest relayer first. */
export async function listIds(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('relayers')
    .select('id')
    .where('removed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Reads the relayers of these ids that were not removed, oldest first. */
export async function findSubjects(db: Db, ids: readonly string[]): Promise<HealthSubject[]> {
  if (ids.length === 0) return []
  const [rows, accounts] = await Promise.all([
    db
      .selectFrom('relayers')
      .selectAll()
      .where('removed_at', 'is', null)
      .where(sql<boolean>`id = any(${ids}::text[])`)
      .orderBy('created_at')
      .orderBy('id')
      .execute(),
    findAccounts(db, ids),
  ])
  const sourceAccounts = Map.groupBy(accounts, ({ relayer_id }) => relayer_id)
  return rows.map((row) => {
    const own = sourceAccounts.get(row.id) ?? []
    return {
      relayer: toRelayer(row),
      failedChecks: row.failed_checks,
      confirmed: byAddress(own, 'confirmed'),
      assigned: byAddress(own, 'next_nonce'),
      explained: byAddress(own, 'explained'),
    }
  })
}

function byAddress(rows: readonly AccountRow[], column: 'confirmed' | 'next_nonce' | 'explained') {
  return new Map(
    rows.flatMap(({ address, [column]: nonce }): [string, bigint][] =>
      nonce === null ? [] : [[address, nonce]],
    ),
  )
}

interface AccountRow {
  readonly relayer_id: string
  readonly address: string
  readonly confirmed: bigint | null
  readonly next_nonce: bigint | null
  readonly explained: bigint | null
}

/** The query reads the end of the index of nonces, so its cost does not grow with the history. */
async function findAccounts(db: Db, ids: readonly string[]): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`
    select a.relayer_id, a.address, a.next_nonce, greatest(a.next_nonce, a.known_nonce) as explained, newest.nonce as confirmed
    from relayers r
    join accounts a on a.relayer_id = r.id
    left join lateral (
      select t.nonce from transactions t
      where t.relayer_id = r.id and t.network = r.network and t.source_account = a.address and t.nonce is not null
        and t.reset_at is null and t.status = 'confirmed'
      order by t.nonce desc limit 1) newest on true
    where r.removed_at is null and r.id = any(${ids}::text[])`.execute(db)
  return rows
}

/**
 * Reads and locks one relayer. No other writer changes it until the commit; the service still accepts its
 * transactions.
 */
export async function lockForHealth(tx: Tx, id: string): Promise<Relayer | undefined> {
  // The order of locks: database/locks/lock-order.md.
  const row = await tx
    .selectFrom('relayers')
    .selectAll()
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row && toRelayer(row)
}

/** A disabled relayer whose check failed again. A reason of the same type replaces the stored details. */
export interface FailedAgain {
  readonly id: string
  readonly reason?: DisabledReason
}

/**
 * Counts one more failed check of each. It records no event, because the state of the relayer is the same.
 */
export async function countFailedChecks(db: Db, failed: readonly FailedAgain[]): Promise<void> {
  if (failed.length === 0) return
  const ids = failed.map(({ id }) => id)
  const reasons = failed.map(({ reason }) => (reason === undefined ? null : JSON.stringify(reason)))
  await sql`
    with failed as materialized (
      select id from relayers where id = any(${ids}::text[]) and system_disabled and removed_at is null order by id for no key update)
    update relayers r
    set failed_checks = r.failed_checks + 1,
      disabled_reason = case
        when r.disabled_reason->>'type' = f.reason::jsonb->>'type' then f.reason::jsonb
        else r.disabled_reason end
    from failed join unnest(${ids}::text[], ${reasons}::text[]) as f (id, reason) on f.id = failed.id
    where r.id = failed.id`.execute(db)
}

/** The number of relayers, and of disabled ones by the type of reason. */
export interface DisabledCounts {
  readonly total: number
  readonly byType: ReadonlyMap<DisabledReason['type'], number>
}

/** Counts the relayers that were not removed. */
export async function countDisabled(db: Db): Promise<DisabledCounts> {
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
