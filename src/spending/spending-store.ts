import { type Selectable, sql } from 'kysely'
import { NATIVE } from '../chains/effects.ts'
import type { Db, Tx } from '../database/db.ts'
import type { SpendingsTable } from '../database/tables/transactions.ts'
import {
  type Asked,
  type Counter,
  firstStep,
  type Spent,
  type SpentIn,
  stepOf,
  ZERO_SPENT,
} from './budget.ts'
import { type CountChange, countChanges, type Holding, type HoldingChange } from './holding.ts'
import { decodeRules } from './rule-table.ts'
import { PERIODS, type Spender, subjectOfKey, userSpender } from './rules.ts'

interface BudgetsToLock {
  readonly subjects: readonly string[]
  readonly transactionIds: readonly string[]
}

/**
 * Locks spenders, and the payers of the transactions, until the commit; then reads the holdings of the
 * transactions, in a fixed order. A writer that changes spending calls it once, after writing the
 * transactions and before writing anything here: two writers then never deadlock, and the budgets that were
 * read stay valid.
 */
export async function lockBudgets(tx: Tx, { subjects, transactionIds }: BudgetsToLock): Promise<Holding[]> {
  const payers = await findPayers(tx, transactionIds)
  await lockSpenders(tx, [...subjects, ...payers])
  if (transactionIds.length === 0) return []
  const rows = await holdingsOf(tx, transactionIds).forUpdate().execute()
  return rows.map(toHolding)
}

async function findPayers(tx: Tx, transactionIds: readonly string[]): Promise<string[]> {
  if (transactionIds.length === 0) return []
  const rows = await tx
    .selectFrom('spendings')
    .select('subject')
    .distinct()
    .where(sql<boolean>`transaction_id = any(${transactionIds}::text[])`)
    .execute()
  return rows.map(({ subject }) => subject)
}

/** In the order of their names. */
async function lockSpenders(tx: Tx, subjects: readonly string[]): Promise<void> {
  const sorted = [...new Set(subjects)].sort()
  if (sorted.length === 0) return
  for (let locked = 0; locked < sorted.length; ) {
    await tx
      .insertInto('spenders')
      .values(sorted.map((subject) => ({ subject })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    // A user whose row was deleted between the two statements is inserted again.
    // The order of locks: database/locks/lock-order.md.
    const rows = await tx
      .selectFrom('spenders')
      .select('subject')
      .where('subject', 'in', sorted)
      .orderBy('subject')
      .forUpdate()
      .execute()
    locked = rows.length
  }
}

/** Reads what was spent in the periods that end now. */
export async function readSpent(db: Db, asked: readonly Asked[], now: Date): Promise<SpentIn> {
  if (asked.length === 0) return () => ZERO_SPENT
  // A sum requested twice would be joined twice, and doubled.
  const wanted = new Map(asked.map((one) => [keyOf(one.counter, one.period), one]))
  const records = [...wanted.values()].map(({ counter, period }) => ({
    subject: counter.subject,
    network: counter.network,
    asset: counter.asset,
    period,
    since: firstStep(period, now),
  }))
  const { rows } = await sql<Record<'subject' | 'network' | 'asset' | 'period', string> & Spent>`
    select subject, network, asset, period, sum(value) as value, sum(fees) as fees, sum(count)::integer as count
    from spent
    join jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
      as asked (subject text, network text, asset text, period text, since timestamptz)
      using (subject, network, asset, period)
    where step >= since
    group by subject, network, asset, period`.execute(db)
  const sums = new Map(rows.map((row) => [keyOf(row, row.period), toSpent(row)]))
  return (counter, period) => sums.get(keyOf(counter, period)) ?? ZERO_SPENT
}

function keyOf({ subject, network, asset }: Counter, period: string): string {
  return JSON.stringify([subject, network, asset, period])
}

function toSpent({ value, fees, count }: Spent): Spent {
  return { value: BigInt(value), fees: BigInt(fees), count }
}

/** Lists the networks and assets of which spenders have spent anything in the last 30 days. */
export async function listCounters(db: Db, subjects: readonly string[], now: Date): Promise<Counter[]> {
  return db
    .selectFrom('spent')
    .select(['subject', 'network', 'asset'])
    .distinct()
    .where(sql<boolean>`subject = any(${subjects}::text[])`)
    .where('period', '=', 'month')
    .where('step', '>=', firstStep('month', now))
    .orderBy('network')
    .orderBy('asset')
    .execute()
}

/**
 * Finds the API keys with rules, and their users, among subjects. A deleted key is one of them: what it has
 * sent still costs money, and its limits were set for that.
 */
export async function findKeySpenders(db: Db, subjects: readonly string[]): Promise<Spender[]> {
  if (subjects.length === 0) return []
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'rules'])
    .where('rules', 'is not', null)
    .where(
      sql<boolean>`'key:' || id in (select split_part(subject, '/', 1) from unnest(${subjects}::text[]) as subject)`,
    )
    .execute()
  return rows.flatMap(({ id, rules: stored }) => {
    if (stored === null) return []
    const [subject, rules] = [subjectOfKey(id), decodeRules(stored)]
    const users = subjects.filter((one) => one.startsWith(`${subject}/`))
    const ofUsers = users.map((one) => userSpender(id, one.slice(subject.length + 1), rules))
    return [{ subject, rules }, ...ofUsers.filter((one) => one !== undefined)]
  })
}

/** Reads the holdings of transactions. */
export async function findHoldings(db: Db, transactionIds: readonly string[]): Promise<Holding[]> {
  if (transactionIds.length === 0) return []
  const rows = await holdingsOf(db, transactionIds).execute()
  return rows.map(toHolding)
}

function holdingsOf(db: Db, transactionIds: readonly string[]) {
  return db
    .selectFrom('spendings')
    .selectAll()
    .where(sql<boolean>`transaction_id = any(${transactionIds}::text[])`)
    .orderBy('transaction_id')
    .orderBy('subject')
    .orderBy('asset')
    .orderBy('version')
}

/** Closes the newest version of transactions: what is signed next for them is another charge. */
export async function closeHoldings(tx: Tx, transactionIds: readonly string[]): Promise<void> {
  if (transactionIds.length === 0) return
  await tx
    .updateTable('spendings')
    .set({ closed: true })
    .where(sql<boolean>`transaction_id = any(${transactionIds}::text[])`)
    .where('closed', '=', false)
    .execute()
}

function toHolding(row: Selectable<SpendingsTable>): Holding {
  return {
    transactionId: row.transaction_id,
    subject: row.subject,
    network: row.network,
    asset: row.asset,
    version: row.version,
    closed: row.closed,
    at: row.at,
    most: {
      value: BigInt(row.most_value),
      fees: BigInt(row.most_fees),
      count: row.asset === NATIVE ? 1 : 0,
    },
    counted: toSpent(row),
    settled: row.settled,
  }
}

/** Stores holdings, each of them once, and the changes of the sums that come with them. */
export async function saveHoldings(tx: Tx, changes: readonly HoldingChange[]): Promise<void> {
  if (changes.length === 0) return
  await sql`
    insert into spendings (transaction_id, subject, network, asset, version, at, most_value, most_fees, value, fees, count, settled)
    select * from jsonb_to_recordset(${JSON.stringify(changes.map(({ after }) => toRow(after)))}::jsonb)
      as holding (transaction_id text, subject text, network text, asset text, version integer, at timestamptz,
        most_value numeric, most_fees numeric, value numeric, fees numeric, count integer, settled boolean)
    on conflict (transaction_id, subject, asset, version) do update set
      at = excluded.at, most_value = excluded.most_value, most_fees = excluded.most_fees, value = excluded.value,
      fees = excluded.fees, count = excluded.count, settled = excluded.settled`.execute(tx)
  await addToSums(tx, changes.flatMap(countChanges))
}

function toRow({ transactionId, subject, network, asset, version, at, most, counted, settled }: Holding) {
  return {
    transaction_id: transactionId,
    subject,
    network,
    asset,
    version,
    at,
    most_value: String(most.value),
    most_fees: String(most.fees),
    value: String(counted.value),
    fees: String(counted.fees),
    count: counted.count,
    settled,
  }
}

/** Rows are written in a fixed order, so that two writers never wait for each other. */
async function addToSums(tx: Tx, changes: readonly CountChange[]): Promise<void> {
  const records = changes.flatMap(({ subject, network, asset, at, spent }) =>
    PERIODS.map((period) => ({
      subject,
      network,
      asset,
      period,
      step: stepOf(period, at),
      value: String(spent.value),
      fees: String(spent.fees),
      count: spent.count,
    })),
  )
  if (records.length === 0) return
  await sql`
    insert into spent (subject, network, asset, period, step, value, fees, count)
    select subject, network, asset, period, step, sum(value), sum(fees), sum(count)
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
      as change (subject text, network text, asset text, period text, step timestamptz, value numeric, fees numeric, count integer)
    group by subject, network, asset, period, step
    order by subject, network, asset, period, step
    on conflict (subject, network, asset, period, step) do update set
      value = spent.value + excluded.value, fees = spent.fees + excluded.fees, count = spent.count + excluded.count`.execute(
    tx,
  )
}

/**
 * Finds up to `limit` transactions of each relayer whose holdings are open although the chain has decided. A
 * reorganisation undoes a decision. Those of all accounts of a relayer are together. Those of a deleted
 * relayer are excluded, because only a relayer on their network can read what they cost; they count until
 * their periods end.
 */
export async function findUnsettled(db: Db, limit: number): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ relayer_id: string; ids: string[] }>`
    select relayers.id as relayer_id, (array_agg(distinct transactions.id))[1:${limit}::integer] as ids from spendings
    join transactions on transactions.id = spendings.transaction_id
    join relayers on relayers.id = split_part(transactions.relayer_id, '/', 1) and relayers.removed_at is null
      and relayers.network_type || ':' || relayers.network = spendings.network
    where not spendings.settled and transactions.phase in ('confirmed', 'failed', 'canceled', 'expired')
      and transactions.reorganized_at is null
    group by relayers.id`.execute(db)
  return new Map(rows.map(({ relayer_id, ids }) => [relayer_id, ids]))
}

/** Deletes what no period counts. */
export async function deleteOldSpendings(db: Db, before: Date): Promise<void> {
  await sql`
    delete from spendings where at < ${before} and not exists (
      select from transactions where transactions.id = spendings.transaction_id
        and transactions.phase not in ('confirmed', 'failed', 'canceled', 'expired'))`.execute(db)
  await db.deleteFrom('spent').where('step', '<', before).execute()
  // Users are many and come and go, unlike keys and relayers.
  await sql`
    delete from spenders where subject like 'key:%/%'
      and not exists (select from spent where spent.subject = spenders.subject)`.execute(db)
}
