import { type RawBuilder, sql } from 'kysely'
import type { Visibility } from '../../access/principal.ts'
import { visibleRelayer } from '../../access/visibility-store.ts'
import type { Db } from '../../database/db.ts'
import type { NetworkType } from '../../networks/network.ts'
import type { TransactionStatus, TransactionWithAttempts } from '../model/transaction.ts'
import { phaseOf } from '../store/codec.ts'
import { readTransactions } from '../store/lookups-store.ts'
import { assetOf, type TermKind, termOf } from '../store/terms-store.ts'
import { positionsWithin } from './positions-store.ts'

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
  /** The first position that can fit; the oldest transaction when it is absent. */
  readonly from?: bigint | undefined
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
  const { ids, lastId } = await findTransactions(db, search)
  return { items: await readTransactions(db, ids), lastId }
}

/** Finds only their ids. */
export async function findTransactions(
  db: Db,
  wanted: TransactionSearch,
): Promise<Pick<FoundPage, 'lastId'> & { readonly ids: readonly string[] }> {
  const search = { ...wanted, ...(await positionsWithin(db, wanted)) }
  const { rows } = await searchStatement(search).execute(db)
  const fitting = rows.filter(({ fits }) => fits)
  const page = fitting.slice(0, search.limit)
  const last = fitting.length > search.limit ? page.at(-1) : rows.find(({ is_end }) => is_end)
  return { ids: page.map(({ id }) => id), lastId: last?.id }
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
  { search: { before, from }, most }: { readonly search: TransactionSearch; readonly most: number },
): RawBuilder<unknown> {
  return sql`(
      select distinct term.position as at from transaction_terms term
      where term.relayer_id = visible.id and term.term = ${term} ${before === undefined ? sql`` : sql`and term.position < ${before}`}
        ${from === undefined ? sql`` : sql`and term.position >= ${from}`}
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
  const { before, from } = search
  const conditions = [
    ...(before === undefined ? [] : [sql`position < ${before}`]),
    ...(from === undefined ? [] : [sql`position >= ${from}`]),
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
