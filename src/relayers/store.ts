import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import { ALL_RELAYERS, seesEverything, type Visibility } from '../access/principal.ts'
import { visibleRelayer } from '../access/visibility-store.ts'
import type { HistoryMark } from '../chains/capabilities.ts'
import type { Db, Schema, Tx } from '../database/db.ts'
import type { RelayersTable } from '../database/tables/relayers.ts'
import { recordRelayerState } from '../events/store.ts'
import { deleteInterfacesOf } from './interfaces/interfaces-store.ts'
import type { DisabledReason, Relayer } from './relayer.ts'
import { type ConfiguredRelayer, columnsOf, toRelayer } from './relayer-codec.ts'

/** A part of a list, in the list's stable order. */
interface Range {
  readonly offset: number
  readonly limit: number
}

/**
 * Lists the visible relayers in order of creation, then id. `total` counts all of them, regardless of the
 * range.
 */
export async function listRelayers(
  db: Db,
  { offset, limit }: Range,
  visibility = ALL_RELAYERS,
): Promise<{ items: Relayer[]; total: number }> {
  const present = db.selectFrom('relayers').where('removed_at', 'is', null).whereRef('id', '=', 'pool_id')
  const listed = seesEverything(visibility) ? present : present.where(visibleRelayer(visibility))
  const [rows, { total }] = await Promise.all([
    listed.selectAll().orderBy('created_at').orderBy('id').offset(offset).limit(limit).execute(),
    listed.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { items: rows.map(toRelayer), total: Number(total) }
}

/** Lists the ids of the visible relayers, removed ones included. */
export async function visibleRelayerIds(db: Db, visibility: Visibility): Promise<string[]> {
  const rows = await db.selectFrom('relayers').select('id').where(visibleRelayer(visibility)).execute()
  return rows.map(({ id }) => id)
}

type Row = Selectable<Schema['relayers']>

/**
 * The most relayers that one statement reads: the process has several copies of an answer while it reads it,
 * about 5 kB for each relayer.
 */
const PAGE_SIZE = 500

/** Reads every relayer that was not removed, in the same order. */
export async function allRelayers(db: Db): Promise<Relayer[]> {
  const relayers: Relayer[] = []
  for await (const page of pagesOfRelayers(db)) relayers.push(...page)
  return relayers
}

/**
 * Reads the same, a page at a time. A relayer that changes during the read is returned as before or after the
 * change; one that appears during it may be missing.
 */
export async function* pagesOfRelayers(db: Db): AsyncGenerator<Relayer[]> {
  const present = db.selectFrom('relayers').selectAll().where('removed_at', 'is', null)
  for await (const rows of pagesOf(present)) yield rows.map(toRelayer)
}

/** Runs a query of whole rows a page at a time, in the order of their creation. */
async function* pagesOf(query: SelectQueryBuilder<Schema, 'relayers', Row>): AsyncGenerator<Row[]> {
  const ordered = query.orderBy('created_at').orderBy('id').limit(PAGE_SIZE)
  for (let rows = await ordered.execute(); ; ) {
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_SIZE) return
    rows = await ordered.where(isBehind(last.id)).execute()
  }
}

/** The database compares the times, because those of this program are less precise. */
function isBehind(id: string) {
  return sql<boolean>`(created_at, id) > (select created_at, id from relayers where id = ${id})`
}

/** Reads one relayer; undefined also for a removed one. */
export async function findRelayer(db: Db, id: string): Promise<Relayer | undefined> {
  const row = await db
    .selectFrom('relayers')
    .selectAll()
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return row && toRelayer(row)
}

/** Finds the ids of the relayers that sign nothing, because they are paused or disabled. */
export async function findNotSigning(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('relayers')
    .select('id')
    .where('removed_at', 'is', null)
    .where((eb) => eb.or([eb('paused', '=', true), eb('system_disabled', '=', true)]))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The relayers of these ids. The result omits ids of unknown and removed relayers. */
export async function findRelayers(db: Db, ids: readonly string[]): Promise<Relayer[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('relayers')
    .selectAll()
    .where('id', 'in', [...ids])
    .where('removed_at', 'is', null)
    .execute()
  return rows.map(toRelayer)
}

/**
 * Reads and locks one relayer until the commit. `share`: many readers may rely on it at the same time, as
 * those who add transactions · `update`: one writer may change it. Records that refer to it can be stored
 * meanwhile, because their lock is a weaker one: an insert never waits for a relayer, nor deadlocks with its
 * writer (`database/locks/lock-order.md`).
 */
export async function lockRelayer(
  tx: Tx,
  id: string,
  strength: 'share' | 'update',
): Promise<Relayer | undefined> {
  const found = tx.selectFrom('relayers').selectAll().where('id', '=', id).where('removed_at', 'is', null)
  const row = await (strength === 'share' ? found.forShare() : found.forNoKeyUpdate()).executeTakeFirst()
  return row && toRelayer(row)
}

/**
 * Locks a relayer as `share`, and its nonce counters for one writer, in one statement: the locks of those who
 * add transactions. Undefined for a removed relayer, of which nothing is locked.
 */
export async function lockForAdding(tx: Tx, id: string): Promise<Relayer | undefined> {
  const { rows } = await sql<Row>`
    with relayer as materialized (select * from relayers where id = ${id} and removed_at is null for share),
    counters as materialized (
      select address from accounts where relayer_id = ${id} and (select count(*) from relayer) > 0 order by address for update)
    select relayer.* from relayer where (select count(*) from counters) >= 0`.execute(tx)
  return rows[0] && toRelayer(rows[0])
}

/**
 * Locks a relayer with all of its accounts, so that none of them stores a transaction until the commit, and
 * returns it. Its own account comes before the others, which are sorted (`database/locks/lock-order.md`).
 */
export async function lockWithAccounts(tx: Tx, id: string): Promise<Relayer | undefined> {
  const relayer = await lockRelayer(tx, id, 'update')
  await tx
    .selectFrom('relayers')
    .select('id')
    .where('pool_id', '=', id)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return relayer
}

/**
 * Locks several relayers against changes until the commit, in their order (`database/locks/lock-order.md`).
 */
export async function lockInOrder(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.selectFrom('relayers').select('id').where('id', 'in', ids).orderBy('id').forNoKeyUpdate().execute()
}

/**
 * Disables a relayer with a reason, or enables it with null, and records the event in the same database
 * transaction (I8). The count of failed checks starts with the first reason, and stays when the relayer is
 * enabled, because the event contains it.
 */
export async function setSystemDisabled(tx: Tx, id: string, reason: DisabledReason | null): Promise<void> {
  await tx
    .updateTable('relayers')
    .set({
      system_disabled: reason !== null,
      disabled_reason: reason && JSON.stringify(reason),
      ...(reason && {
        failed_checks: sql<number>`case when system_disabled then failed_checks + 1 else 1 end`,
      }),
    })
    .where('id', '=', id)
    .execute()
  await recordRelayerState(tx, id)
}

/** A relayer, present or removed. */
export interface StoredRelayer {
  readonly relayer: Relayer
  readonly removed: boolean
}

/**
 * Reads every relayer, including removed ones. Blocks other changes and new transactions until the commit,
 * but not reads. Call it before anything else is locked (`database/locks/lock-order.md`).
 */
export async function lockRelayers(tx: Tx): Promise<Map<string, StoredRelayer>> {
  // The lock conflicts with inserts of rows that refer to a relayer, so later counts stay true until the
  // commit.
  await sql`lock table relayers in exclusive mode`.execute(tx)
  const stored = new Map<string, StoredRelayer>()
  for await (const rows of pagesOf(tx.selectFrom('relayers').selectAll()))
    for (const row of rows) stored.set(row.id, { relayer: toRelayer(row), removed: row.removed_at !== null })
  return stored
}

/**
 * Creates a relayer, or overwrites the columns that the configuration decides; restores a removed one; opens
 * its account.
 */
export async function saveRelayer(tx: Tx, relayer: ConfiguredRelayer): Promise<void> {
  const values = columnsOf(relayer)
  await tx
    .insertInto('relayers')
    .values({ id: relayer.id, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute()
  await openAccount(tx, relayer)
}

/**
 * Creates a relayer. It can replace a removed one of the same id, of which only the history stays. Returns
 * undefined if the id is in use.
 */
export async function insertRelayer(tx: Tx, relayer: ConfiguredRelayer): Promise<Relayer | undefined> {
  const values = columnsOf(relayer)
  const enabled = { system_disabled: false, disabled_reason: null, failed_checks: 0 }
  const row = await tx
    .insertInto('relayers')
    .values({ id: relayer.id, ...values })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ ...values, ...enabled })
        .where('relayers.removed_at', 'is not', null),
    )
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) return undefined
  await openAccount(tx, relayer)
  // Another relayer may have used the account in the meantime.
  await forgetNonce(tx, relayer.id)
  return toRelayer(row)
}

/**
 * Overwrites the columns that the configuration decides, and those of the further accounts that follow them.
 * The caller holds the lock of the relayer.
 */
export async function updateRelayer(tx: Tx, relayer: ConfiguredRelayer): Promise<Relayer> {
  const row = await tx
    .updateTable('relayers')
    .set(columnsOf(relayer))
    .where('id', '=', relayer.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (relayer.accounts !== undefined) await updateFurtherAccounts(tx, relayer)
  return toRelayer(row)
}

/**
 * Gives the further accounts of a relayer what they share with it. The caller holds the lock of the relayer.
 */
export async function updateFurtherAccounts(tx: Tx, { id }: Pick<Relayer, 'id'>): Promise<void> {
  await sql`
    with further as materialized (
      select id from relayers where pool_id = ${id} and id <> ${id} and removed_at is null order by id for no key update)
    update relayers account set name = own.name, network = own.network, notification_id = own.notification_id, paused = own.paused,
      policies = own.policies, custom_rpc_urls = own.custom_rpc_urls
    from relayers own, further
    where own.id = ${id} and account.id = further.id`.execute(tx)
}

/** Opens the nonce counter of the relayer's own account. */
export async function openAccount(tx: Tx, { id, address }: ConfiguredRelayer): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ relayer_id: id, address, ...NOTHING_KNOWN })
    .onConflict((conflict) => conflict.columns(['relayer_id', 'address']).doNothing())
    .execute()
}

const NOTHING_KNOWN = { next_nonce: null, known_nonce: null, known_slot: null, known_hash: null }

/** Forgets the nonces of the accounts: the service reads them from the chain again before it assigns one. */
export async function forgetNonce(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('accounts').set(NOTHING_KNOWN).where('relayer_id', '=', id).execute()
}

/** Pauses every relayer that is not paused, and returns their ids. */
export async function pauseAll(tx: Tx): Promise<string[]> {
  const running = tx
    .selectFrom('relayers')
    .select('id')
    .where('paused', '=', false)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
  const rows = await tx
    .with(
      (cte) => cte('running').materialized(),
      () => running,
    )
    .updateTable('relayers')
    .from('running')
    .set({ paused: true })
    .whereRef('relayers.id', '=', 'running.id')
    .returning('relayers.id as id')
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Remembers that the chain may have used the nonces of the account below this one. A lower nonce than the
 * stored one changes nothing, and neither does one that is more than `within` above what is known, where that
 * is given.
 */
export async function raiseKnownNonce(
  db: Db,
  {
    relayerId,
    address,
    nonce,
    within,
  }: { relayerId: string; address: string; nonce: bigint; within?: bigint },
): Promise<void> {
  await sql`
    insert into accounts (relayer_id, address, known_nonce) values (${relayerId}, ${address}, ${nonce})
    on conflict (relayer_id, address) do update set known_nonce = greatest(accounts.known_nonce, excluded.known_nonce)
    where ${within ?? null}::bigint is null or excluded.known_nonce - greatest(accounts.known_nonce, accounts.next_nonce) <= ${within ?? null}::bigint`.execute(
    db,
  )
}

/**
 * Finds the point up to which the records explain the history of the relayer's account; undefined before the
 * account was first seen.
 */
export async function findHistoryMark(
  db: Db,
  { id, address }: Pick<Relayer, 'id' | 'address'>,
): Promise<HistoryMark | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select(['known_slot', 'known_hash'])
    .where('relayer_id', '=', id)
    .where('address', '=', address)
    .executeTakeFirst()
  if (row === undefined || row.known_slot === null) return undefined
  return { slot: row.known_slot, ...(row.known_hash !== null && { hash: row.known_hash }) }
}

/** Stores a later point; an earlier one changes nothing. */
export async function raiseHistoryMark(
  db: Db,
  { id, address }: Pick<Relayer, 'id' | 'address'>,
  { slot, hash }: HistoryMark,
): Promise<void> {
  await sql`
    insert into accounts (relayer_id, address, known_slot, known_hash) values (${id}, ${address}, ${slot}, ${hash ?? null})
    on conflict (relayer_id, address) do update set known_slot = excluded.known_slot, known_hash = excluded.known_hash
    where accounts.known_slot is null or accounts.known_slot <= excluded.known_slot`.execute(db)
}

/** Finds a transaction of the relayer that waits for the decision of an operator; undefined if none does. */
export async function findUndecided(db: Db, relayerId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('transactions')
    .select('id')
    .where('relayer_id', '=', relayerId)
    .where('undecided_since', 'is not', null)
    .where('phase', '=', 'signed')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/**
 * Removes a relayer from the list, with its further accounts, its ABIs and its schedules. Its transactions
 * stay in the database, and the API no longer shows them.
 */
export async function removeRelayer(tx: Tx, id: string): Promise<void> {
  await deleteInterfacesOf(tx, id)
  await tx.deleteFrom('schedules').where('relayer_id', '=', id).execute()
  await tx
    .updateTable('relayers')
    .set({ removed_at: sql<Date>`now()`, notification_id: null })
    .where('pool_id', '=', id)
    .where('removed_at', 'is', null)
    .execute()
}

/** Returns the ids of the relayers whose events the notification gets. */
export async function relayersTelling(tx: Tx, notificationId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('relayers')
    .select('pool_id as id')
    .distinct()
    .where('notification_id', '=', notificationId)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the ids of the relayers that sign with this signer, for themselves or for a channel. */
export async function relayersSigningWith(tx: Tx, signerId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('relayers')
    .select('pool_id as id')
    .distinct()
    .where('removed_at', 'is', null)
    .where((eb) =>
      eb.or([eb('signer_id', '=', signerId), sql<boolean>`channels @> to_jsonb(${signerId}::text)`]),
    )
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Reads the relayers that have the address or the signer of one, itself included. */
export async function relayersOfKey(
  db: Db,
  { address, signerId }: Pick<Relayer, 'address' | 'signerId'>,
): Promise<Relayer[]> {
  const rows = await db
    .selectFrom('relayers')
    .selectAll()
    .where('removed_at', 'is', null)
    .where((eb) => eb.or([eb('address', '=', address), eb('signer_id', '=', signerId)]))
    .orderBy('id')
    .execute()
  return rows.map(toRelayer)
}

/** Counts the transactions of the relayer that are not final, those of its further accounts included. */
export async function countUnfinished(tx: Tx, relayerId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('transactions')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('relayer_id', 'in', tx.selectFrom('relayers').select('id').where('pool_id', '=', relayerId))
    .where('phase', 'in', ['pending', 'signed'])
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** A relayer at the time of an event. */
export interface RelayerSnapshot {
  readonly relayer: Relayer
  /** The number of checks that had failed in a row. */
  readonly failedChecks: number
}

/** Reads the relayers in the payloads of events, by the number of the event. */
export async function readRelayerSnapshots(
  db: Db,
  eventNumbers: readonly bigint[],
): Promise<Map<bigint, RelayerSnapshot>> {
  if (eventNumbers.length === 0) return new Map()
  // The row type of the table gives every column the type that it has there.
  const { rows } = await sql<Selectable<RelayersTable> & { event_number: bigint }>`
    select e.number as event_number, snapshot.*
    from events e, jsonb_populate_record(null::relayers, e.payload) snapshot
    where e.number = any(${eventNumbers}::bigint[])`.execute(db)
  return new Map(
    rows.map((row) => [row.event_number, { relayer: toRelayer(row), failedChecks: row.failed_checks }]),
  )
}

/**
 * Makes changes of treasuries wait for each other until the commit: two changes at the same time could close
 * a circle that neither sees. It does not stop top-ups, which are stored under the lock of a relayer
 * (`database/locks/lock-order.md`).
 */
export async function lockTopUps(tx: Tx): Promise<void> {
  await sql`lock table top_ups in share update exclusive mode`.execute(tx)
}
