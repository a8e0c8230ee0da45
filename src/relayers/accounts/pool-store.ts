import { sql } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import type { Relayer } from '../relayer.ts'
import { type ConfiguredRelayer, columnsOf, toRelayer } from '../relayer-codec.ts'
import { forgetNonce, openAccount, updateFurtherAccounts } from '../store.ts'
import { releaseAccounts } from './claims-store.ts'
import { MAX_ACCOUNTS } from './pool.ts'

/**
 * Makes these the further accounts of a relayer. One that is no longer among them takes no new work, and is
 * removed when it has none. The caller holds the lock of the relayer, and then reserves the accounts.
 */
export async function saveFurtherAccounts(
  tx: Tx,
  { id }: Pick<Relayer, 'id'>,
  further: readonly ConfiguredRelayer[],
): Promise<void> {
  const before = await tx
    .selectFrom('relayers')
    .select(['id', 'network', 'removed_at'])
    .where('pool_id', '=', id)
    .whereRef('id', '<>', 'pool_id')
    .execute()
  const present = new Map(
    before.flatMap((row) => (row.removed_at === null ? [[row.id, row.network] as const] : [])),
  )
  const wanted = new Set(further.map((account) => account.id))
  const leaving = [...present.keys()].filter((one) => !wanted.has(one))
  for (const account of further) {
    const isNew = !present.has(account.id)
    const values = { ...columnsOf(account), draining: false, ...(isNew && NOT_DISABLED) }
    await tx
      .insertInto('relayers')
      .values({ id: account.id, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute()
    await openAccount(tx, account)
    // Another relayer may have used the account in the meantime, and another network counts from its own
    // beginning.
    if (present.get(account.id) !== account.network) await forgetNonce(tx, account.id)
  }
  // Those that are leaving, or were before, still follow the relayer: they too stop signing when it is
  // paused.
  await updateFurtherAccounts(tx, { id })
  if (leaving.length === 0) return
  await tx.updateTable('relayers').set({ draining: true }).where('id', 'in', leaving).execute()
  await removeDrained(tx, id)
}

/** An account that left disabled and comes back begins as a new one does. */
const NOT_DISABLED = { system_disabled: false, disabled_reason: null, failed_checks: 0 }

/**
 * Until then, in hours, a final transaction can lose its block, and the service has to see it
 * (`recheck-final.ts`): an account that leaves is watched for that long.
 */
const WATCHED_HOURS = 24

/**
 * Removes the accounts that leave, of one relayer or of all, as far as they have no open transaction, and no
 * final one that is still watched. Their history stays. Returns their ids.
 */
export async function removeDrained(tx: Tx, poolId?: string): Promise<string[]> {
  const ofPool = poolId === undefined ? sql`` : sql`and pool_id = ${poolId}`
  const { rows } = await sql<{ id: string }>`
    with drained as materialized (
      select id from relayers
      where draining and removed_at is null ${ofPool} and not exists (
        select from transactions where relayer_id = relayers.id and phase in ('pending', 'signed'))
        and not exists (
          select from transactions where relayer_id = relayers.id and confirmed_at > now() - ${WATCHED_HOURS}::integer * interval '1 hour'
            and block_number is not null and reset_at is null)
      order by id for no key update)
    update relayers set removed_at = now(), notification_id = null from drained
    where relayers.id = drained.id
    returning relayers.id`.execute(tx)
  const removed = rows.map(({ id }) => id)
  await releaseAccounts(tx, removed)
  return removed
}

/**
 * Reads the accounts of relayers by the id of the relayer, in their configured order; those that leave come
 * last. Removed ones are absent.
 */
export async function findAccounts(
  db: Db,
  poolIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Relayer[]>> {
  if (poolIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('relayers')
    .selectAll()
    .where('pool_id', 'in', [...poolIds])
    .where('removed_at', 'is', null)
    .orderBy('id')
    .execute()
  const groups = Map.groupBy(rows, (row) => row.pool_id)
  return new Map([...groups].map(([poolId, group]) => [poolId, inOrder(poolId, group.map(toRelayer))]))
}

function inOrder(poolId: string, accounts: readonly Relayer[]): Relayer[] {
  const own = accounts.find(({ id }) => id === poolId)
  const signers = own?.accounts?.map(({ signerId }) => signerId) ?? []
  const rankOf = ({ id, draining, signerId, accountIndex = 0 }: Relayer): number => {
    if (id === poolId) return -1
    return draining === true ? Infinity : signers.indexOf(signerId) * MAX_ACCOUNTS + accountIndex
  }
  return accounts.toSorted((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1))
}

/** Reads the ids of all accounts that a relayer ever had, its own first. */
export async function findAccountIds(db: Db, poolId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('relayers')
    .select('id')
    .where('pool_id', '=', poolId)
    .orderBy(sql`id <> pool_id`)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** An account that can be chosen for a transaction. */
export interface AccountLoad {
  readonly id: string
  readonly address: string
  /** It accepts new work. */
  readonly isUsable: boolean
  /** The number of its open transactions, counted up to `MAX_COUNTED`. */
  readonly open: number
}

/** More open transactions make no difference, because all of such accounts are full. */
const MAX_COUNTED = 1_000

/** Reads how busy the accounts of a relayer are, its own first. */
export async function findLoads(db: Db, poolId: string): Promise<AccountLoad[]> {
  const { rows } = await sql<{ id: string; address: string; is_usable: boolean; open: bigint }>`
    select id, address, not (paused or system_disabled or draining) as is_usable, (
      select count(*) from (
        select from transactions where relayer_id = relayers.id and phase in ('pending', 'signed') limit ${MAX_COUNTED}) open) as open
    from relayers where pool_id = ${poolId} and removed_at is null
    order by id <> pool_id, id`.execute(db)
  return rows.map(({ id, address, is_usable: isUsable, open }) => ({
    id,
    address,
    isUsable,
    open: Number(open),
  }))
}

/** Finds the account that has an open transaction of this lane; undefined if none has. */
export async function findLaneAccount(
  db: Db,
  { poolId, lane }: { readonly poolId: string; readonly lane: string },
): Promise<string | undefined> {
  const { rows } = await sql<{ relayer_id: string }>`
    select relayer_id from transactions
    where lane = ${lane} and phase in ('pending', 'signed') and relayer_id in (select id from relayers where pool_id = ${poolId})
    order by position desc limit 1`.execute(db)
  return rows[0]?.relayer_id
}

/**
 * Makes acceptances of one lane wait for each other until the commit: two processes could otherwise give it
 * two accounts. Lanes are locked before any relayer, sorted (`database/locks/lock-order.md`).
 */
export async function lockLanes(
  tx: Tx,
  { poolId, lanes }: { readonly poolId: string; readonly lanes: readonly string[] },
): Promise<void> {
  for (const lane of [...new Set(lanes)].sort())
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${poolId}/${lane}`}, 0))`.execute(tx)
}
