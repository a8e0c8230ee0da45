import { type RawBuilder, sql } from 'kysely'
import type { Visibility } from '../../access/principal.ts'
import { visibleRelayer } from '../../access/visibility-store.ts'
import { MAX_TRANSFERS, type Transfer } from '../../chains/effects.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { Db, Tx } from '../../database/db.ts'
import type { NetworkType } from '../../networks/network.ts'
import type { Transaction, TransactionStatus, TransactionWithAttempts } from '../model/transaction.ts'
import { phaseOf } from './codec.ts'
import { readTransactions } from './lookups-store.ts'

/** The conditions of a search. An absent one does not count. */
export interface TransactionFilter {
  readonly id?: string | undefined
  readonly relayerId?: string | undefined
  readonly networkType?: NetworkType | undefined
  readonly status?: TransactionStatus | undefined
  /** The hash of any attempt, as the chain writes it. */
  readonly hash?: string | undefined
  /**
   * Needs `relayerId`, because a key belongs to a relayer. Without a maker, the keys of all API keys are
   * found.
   */
  readonly idempotencyKey?: { readonly key: string; readonly maker: string | undefined } | undefined
  /** The receiver of a transfer, or the address to which an EVM request is sent. */
  readonly to?: string | undefined
  /** The asset of a transfer; with `to`, that of a transfer to this receiver. */
  readonly asset?: string | undefined
  /** The least and the most that a transfer moves, in the smallest unit; they need `asset`. */
  readonly minAmount?: bigint | undefined
  readonly maxAmount?: bigint | undefined
  /** The caller's own name. */
  readonly reference?: string | undefined
  /** The id of the API key that requested it. */
  readonly requestedBy?: string | undefined
  /** The user of the caller for whom it was requested. */
  readonly userId?: string | undefined
  /** Accepted at this time or later. */
  readonly createdFrom?: Date | undefined
  /** Accepted before this time. */
  readonly createdBefore?: Date | undefined
}

/** A search for the transactions of visible relayers. */
export interface TransactionSearch extends TransactionFilter {
  readonly visibility: Visibility
  /** The place after which the page begins; the newest transaction when it is absent. */
  readonly before?: bigint | undefined
  /** The maximum number of transactions on the page, from 1. */
  readonly limit: number
}

/** A page of a search. It can be short, or empty, although others follow. */
export interface FoundPage {
  readonly items: readonly TransactionWithAttempts[]
  /** The transaction after which the next page begins; absent if nothing follows. */
  readonly lastId?: string | undefined
}

/**
 * A search reads about this many rows for one page, because no index has all of its conditions. A larger
 * number lets one search occupy the embedded database for longer than other requests should wait.
 */
const MAX_SCANNED = 20_000

/**
 * It reads this many rows of each relayer at least, or a page would end with the newest transaction of a
 * relayer and be next to nothing.
 */
const LEAST_SCANNED = 2

/**
 * Finds transactions of visible relayers, present and removed ones, newest first by the order of acceptance.
 */
export async function searchTransactions(db: Db, search: TransactionSearch): Promise<FoundPage> {
  const { rows } = await searchStatement(search).execute(db)
  const fitting = rows.filter(({ fits }) => fits)
  const page = fitting.slice(0, search.limit)
  const items = await readTransactions(
    db,
    page.map(({ id }) => id),
  )
  const last = fitting.length > search.limit ? page.at(-1) : rows.find(({ is_end }) => is_end)
  return { items, lastId: last?.id }
}

/** Finds the place of a transaction in the order of acceptance; undefined if a key does not see it. */
export async function findPosition(db: Db, id: string, visibility: Visibility): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('transactions')
    .innerJoin('relayers', 'relayers.id', 'transactions.relayer_id')
    .select('position')
    .where('transactions.id', '=', id)
    .where(visibleRelayer(visibility))
    .executeTakeFirst()
  return row?.position
}

/** A row that was read. */
interface Scanned {
  readonly id: string
  readonly fits: boolean
  /** The search did not read the rows after this one. */
  readonly is_end: boolean | null
}

/**
 * Builds the statement of a search. It reads each relayer by an index that has the order of acceptance,
 * because there is none over all relayers. Where it stops before the end of a relayer, older transactions of
 * all relayers are left to the next page (`is_end`). A search that names transactions reads them first
 * (`named`): by its estimates, the database would rather read a relayer from its newest transaction on until
 * it meets them.
 */
export function searchStatement(search: TransactionSearch): RawBuilder<Scanned> {
  const { limit } = search
  const named = namedRows(search)
  const sought = soughtTerms(search)
  const [first] = named === undefined ? sought : []
  const fits = allOf([
    ...conditionsWithoutIndex(search),
    ...sought.filter((one) => one !== first || one.conditions.length > 0).map(hasTerm),
    // The rows of a term are all counted, whatever their status.
    ...(first === undefined ? [] : statusCondition(search)),
  ])
  // Without such conditions each row fits, so a page needs as many rows of a relayer as it has itself, plus
  // one that shows whether more follow.
  const most = fits === undefined ? Math.min(limit + 1, MAX_SCANNED) : MAX_SCANNED
  return sql<Scanned>`
    with visible as materialized (select id from relayers where ${relayerConditions(search)}),
    ${named === undefined ? sql`` : sql`named as materialized (select * from transactions where ${named}),`}
    bounds as materialized (
      select greatest(${LEAST_SCANNED}::bigint, least(${most}::bigint, ${MAX_SCANNED}::bigint / greatest(count(*), 1))) as rows
      from visible),
    scanned as materialized (
      select visible.id as relayer_id, part.id, part.position, part.fits from visible cross join lateral (select * from (
        select id, position, ${fits ?? sql`true`} as fits
        from ${first === undefined ? sql`${named === undefined ? sql`transactions` : sql`named`} t where` : rowsWithTerm(first, { search, most })}
          relayer_id = visible.id ${first === undefined ? rowConditions(search) : sql``}
        -- By this limit, which it knows in advance, the planner sees that the rows are few.
        order by position desc limit ${most}
      ) most limit (select rows from bounds)) part
    ),
    ends as materialized (
      select max(position) as position from (
        select min(position) as position from scanned
        group by relayer_id having count(*) = (select rows from bounds)
      ) unfinished
    )
    select id, fits, scanned.position = ends.position as is_end from scanned cross join ends
    where (ends.position is null or scanned.position >= ends.position)
      and (fits or scanned.position = ends.position)
    order by scanned.position desc limit ${limit + 1}`
}

function relayerConditions({ visibility, relayerId, networkType }: TransactionSearch): RawBuilder<unknown> {
  return sql`${visibleRelayer(visibility)}
    ${relayerId === undefined ? sql`` : sql`and pool_id = ${relayerId}`}
    ${networkType === undefined ? sql`` : sql`and network_type = ${networkType}`}`
}

/** Builds the conditions that name transactions; undefined if there is none. */
function namedRows({
  id,
  hash,
  relayerId,
  idempotencyKey,
}: TransactionSearch): RawBuilder<unknown> | undefined {
  const conditions = [
    id === undefined ? [] : sql`id = ${id}`,
    // Attempts on the chain before its reset have an index of their own.
    hash === undefined
      ? []
      : sql`id = any(array(
          select transaction_id from attempts where hash = ${hash} and reset_at is null
          union all select transaction_id from attempts where hash = ${hash} and reset_at is not null
          union all select id from transactions where stated_hash = ${hash}))`,
    idempotencyKey === undefined
      ? []
      : sql`id = any(array(select transaction_id from idempotency_keys
          where relayer_id = ${relayerId} and key = ${idempotencyKey.key}
            ${idempotencyKey.maker === undefined ? sql`` : sql`and api_key_id = ${idempotencyKey.maker}`}))`,
  ].flat()
  return conditions.length === 0 ? undefined : sql.join(conditions, sql` and `)
}

/** A term that a search names, with further conditions on its row. */
interface SoughtTerm {
  readonly term: string
  readonly conditions: readonly RawBuilder<unknown>[]
}

/** Returns the terms that a search names; the first one is expected to have the fewest rows. */
function soughtTerms({
  reference,
  to,
  asset,
  minAmount,
  maxAmount,
  ...search
}: TransactionSearch): SoughtTerm[] {
  const named = (kind: TermKind, value: string | undefined) =>
    value === undefined ? [] : [{ term: termOf(kind, value), conditions: [] }]
  const amounts = [
    ...(minAmount === undefined ? [] : [sql`amount >= ${minAmount}::numeric`]),
    ...(maxAmount === undefined ? [] : [sql`amount <= ${maxAmount}::numeric`]),
  ]
  const ofReceiver = asset === undefined ? amounts : [sql`asset = ${assetOf(asset)}`, ...amounts]
  const transfer =
    to === undefined
      ? named('asset', asset).map(({ term }) => ({ term, conditions: amounts }))
      : [{ term: termOf('to', to), conditions: ofReceiver }]
  return [
    ...named('reference', reference),
    ...transfer,
    ...named('user_id', search.userId),
    ...named('requested_by', search.requestedBy),
  ]
}

/**
 * The transactions of a relayer with a term, as far as a page reads them. A transaction has a row for each of
 * its transfers.
 */
function rowsWithTerm(
  { term }: SoughtTerm,
  { search: { before }, most }: { readonly search: TransactionSearch; readonly most: number },
): RawBuilder<unknown> {
  return sql`(
      select distinct term.position as at from transaction_terms term
      where term.relayer_id = visible.id and term.term = ${term} ${before === undefined ? sql`` : sql`and term.position < ${before}`}
      order by term.position desc limit ${most}
    ) found join transactions t on t.relayer_id = visible.id and t.position = found.at where`
}

function hasTerm({ term, conditions }: SoughtTerm): RawBuilder<unknown> {
  return sql`exists (
    select from transaction_terms term
    where term.relayer_id = visible.id and term.term = ${term} and term.position = t.position
      ${sql.join(
        conditions.map((condition) => sql`and ${condition}`),
        sql` `,
      )})`
}

/** Conditions that an index answers. */
function rowConditions(search: TransactionSearch) {
  const { before } = search
  const conditions = [
    ...(before === undefined ? [] : [sql`position < ${before}`]),
    ...statusCondition(search),
  ]
  return sql.join(
    conditions.map((condition) => sql`and ${condition}`),
    sql` `,
  )
}

/** The values are literals, because the partial indexes apply in every plan only then. */
function statusCondition({ status }: TransactionSearch): RawBuilder<unknown>[] {
  if (status === undefined) return []
  return [sql`phase = ${sql.lit(phaseOf(status))} and status = ${sql.lit(status)}`]
}

function conditionsWithoutIndex({ createdFrom, createdBefore }: TransactionSearch): RawBuilder<unknown>[] {
  return [
    createdFrom === undefined ? [] : sql`created_at >= ${createdFrom}`,
    createdBefore === undefined ? [] : sql`created_at < ${createdBefore}`,
  ].flat()
}

/** Joins conditions; undefined if there is none. */
function allOf(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> | undefined {
  return conditions.length === 0 ? undefined : sql`(${sql.join(conditions, sql` and `)})`
}

/** A kind of what transactions are found by. */
type TermKind = 'to' | 'asset' | 'reference' | 'requested_by' | 'user_id'

/** Returns a term as it is stored. */
function termOf(kind: TermKind, value: string): string {
  return `${kind}:${kind === 'to' || kind === 'asset' ? assetOf(value) : value}`
}

/** Returns an address or the name of an asset as it is stored: those of EVM in lower case. */
function assetOf(text: string): string {
  return text.startsWith('0x') ? text.toLowerCase() : text
}

/** A row of a term; null fields are absent. */
interface Term {
  readonly term: string
  readonly number?: number
  readonly asset?: string
  readonly amount?: string
}

/** Returns what a transaction is found by. */
function termsOf(transaction: Transaction): readonly Term[] {
  const { reference, requestedBy, userId } = transaction
  const named: Partial<Record<TermKind, string | undefined>> = {
    reference,
    requested_by: requestedBy,
    user_id: userId,
  }
  return [
    ...(Object.keys(named) as TermKind[]).flatMap((kind) => {
      const value = named[kind]
      return value === undefined ? [] : [{ term: termOf(kind, value) }]
    }),
    ...termsOfContent(transaction),
  ]
}

/**
 * Returns what a transaction is found by because of its request: who receives, what is called, and what
 * moves.
 */
function termsOfContent({ request, from }: Transaction): readonly Term[] {
  const family = FAMILIES[request.type]
  const { transfers } = family.transfers(request, from)
  const moved = transfers.flatMap(termsOfTransfer)
  const receiver = family.content.receiver?.(request)
  const called = receiver && termOf('to', receiver)
  return called === undefined || moved.some(({ term }) => term === called)
    ? moved
    : [{ term: called }, ...moved]
}

function termsOfTransfer({ to, asset, amount }: Transfer, number: number): Term[] {
  const moved = { number, asset, amount: String(amount) }
  return [
    { term: termOf('asset', asset), ...moved },
    ...(to === undefined ? [] : [{ term: termOf('to', to), ...moved }]),
  ]
}

/**
 * Builds the statement that stores the terms of transactions. `rows` has their `id`, `relayer_id` and
 * `position`. A replacement keeps the terms of the content before it: that can still be what a block
 * includes.
 */
export function insertTerms(
  transactions: readonly Transaction[],
  rows: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const terms = transactions.flatMap((transaction) =>
    termsOf(transaction).map((term) => ({ transaction_id: transaction.id, number: 0, ...term })),
  )
  return sql`
    insert into transaction_terms (relayer_id, term, position, number, asset, amount)
    select row.relayer_id, term.term, row.position, term.number, term.asset, term.amount
    from jsonb_to_recordset(${JSON.stringify(terms)}::jsonb)
      as term (transaction_id text, term text, number smallint, asset text, amount numeric)
    join ${rows} as row on row.id = term.transaction_id
    on conflict (relayer_id, term, position, number) do update set asset = excluded.asset, amount = excluded.amount`
}

/** The tokens that a transaction has moved, as the chain tells it. */
interface MovedTokens {
  readonly transactionId: string
  readonly moved: readonly Transfer[]
  /** The chain tells it no longer. */
  readonly isForgotten: boolean
}

/**
 * Stores what transactions have moved among their terms, besides what was expected of them, and takes back
 * what no block includes any more.
 */
export async function saveMoved(tx: Tx, transactions: readonly MovedTokens[]): Promise<void> {
  const changed = transactions.filter(({ moved, isForgotten }) => isForgotten || moved.length > 0)
  if (changed.length === 0) return
  await sql`
    delete from transaction_terms using transactions t
    where t.id = any(${changed.map(({ transactionId }) => transactionId)}::text[])
      and transaction_terms.position = t.position and transaction_terms.number >= ${MAX_TRANSFERS}`.execute(
    tx,
  )
  const terms = changed.flatMap(({ transactionId, moved }) =>
    moved.flatMap((transfer, index) =>
      termsOfTransfer(transfer, MAX_TRANSFERS + index).map((term) => ({
        transaction_id: transactionId,
        ...term,
      })),
    ),
  )
  if (terms.length === 0) return
  await sql`
    insert into transaction_terms (relayer_id, term, position, number, asset, amount)
    select t.relayer_id, term.term, t.position, term.number, term.asset, term.amount
    from jsonb_to_recordset(${JSON.stringify(terms)}::jsonb)
      as term (transaction_id text, term text, number smallint, asset text, amount numeric)
    join transactions t on t.id = term.transaction_id
    where not exists (
      select from transaction_terms expected
      where expected.relayer_id = t.relayer_id and expected.term = term.term and expected.position = t.position
        and expected.asset = term.asset and expected.amount = term.amount)`.execute(tx)
}
