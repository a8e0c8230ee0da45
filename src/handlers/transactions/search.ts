import { ROOT_ID, type Visibility } from '../../access/principal.ts'
import { NATIVE } from '../../chains/effects.ts'
import type { Input } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import type { HandlerMap } from '../../http/handler.ts'
import { csvLine } from '../../reports/csv.ts'
import { PAYMENT_COLUMNS, paymentRows } from '../../reports/payments-csv.ts'
import { findPosition } from '../../transactions/search/positions-store.ts'
import {
  findTransactions,
  searchTransactions,
  type TransactionFilter,
  type TransactionSearch,
} from '../../transactions/search/search-store.ts'
import { readTransactions } from '../../transactions/store/lookups-store.ts'
import { withDecodedCalls } from '../present/decoded-calls.ts'
import { withPools } from '../present/event.ts'
import { presentTransaction } from '../present/transaction.ts'
import type { CoreParts, RelayerParts } from '../service.ts'

/** The maximum number of transactions in one answer; a larger `limit` counts as this. */
const MAX_LIMIT = 100

type Query = Input<'searchTransactions'>['query']
type Filters = Omit<Query, 'cursor' | 'limit'>

/** The operations that look for transactions of all relayers that the caller sees. */
export function searchTransactionsHandlers(
  service: CoreParts & RelayerParts,
): Pick<HandlerMap, 'searchTransactions' | 'exportTransactions'> {
  const { db, runtimesOf } = service
  return {
    searchTransactions: async ({ query }, { principal: { id, visibility } }) => {
      const search = {
        ...readFilter(query, id),
        visibility,
        before: await readCursor(db, query, visibility),
        limit: Math.min(MAX_LIMIT, query.limit ?? MAX_LIMIT),
      }
      const { items, lastId } = await searchTransactions(db, search)
      const runtimes = await runtimesOf(withPools(items.map(({ transaction }) => transaction.relayerId)))
      const chainOf = (relayerId: string) => runtimes.get(relayerId)?.chain
      const shown = items.map((item) => presentTransaction(item, chainOf(item.transaction.relayerId)))
      return {
        data: await withDecodedCalls(db, shown, chainOf),
        pagination: { next_cursor: lastId ?? null },
      }
    },
    exportTransactions: async ({ query }, { principal: { id, visibility }, signal }) => {
      const search = { ...readFilter(query, id), visibility, limit: FOUND_AT_ONCE }
      const ids = await findAll(db, search, signal)
      return { status: 200, body: exported(service, ids, signal), contentType: 'text/csv; charset=utf-8' }
    },
  }
}

/**
 * The most transactions of one export. More would keep their ids in memory for longer than a file is read.
 */
const MAX_EXPORTED = 50_000

/** The transactions that one search finds for an export: as many as it reads rows. */
const FOUND_AT_ONCE = 10_000

/** @throws AppError `report_too_large` */
async function findAll(db: Db, search: TransactionSearch, signal: AbortSignal): Promise<readonly string[]> {
  const found: string[] = []
  for (let before: bigint | undefined; ; ) {
    signal.throwIfAborted()
    const { ids, lastId } = await findTransactions(db, { ...search, before })
    found.push(...ids)
    if (found.length > MAX_EXPORTED)
      throw new AppError(
        'report_too_large',
        `More than ${MAX_EXPORTED} transactions fit; request shorter periods with created_after and created_before.`,
      )
    if (lastId === undefined) return found
    before = await findPosition(db, lastId, search.visibility)
  }
}

/** The transactions of an export that are in memory at once. */
const EXPORT_PAGE = 100

/** Writes a page when the connection has taken the one before, oldest first. */
async function* exported(
  { db, runtimesOf }: CoreParts & RelayerParts,
  newestFirst: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const ids = newestFirst.toReversed()
  yield csvLine(PAYMENT_COLUMNS)
  for (let start = 0; start < ids.length; start += EXPORT_PAGE) {
    signal.throwIfAborted()
    const items = (await readTransactions(db, ids.slice(start, start + EXPORT_PAGE))).toReversed()
    const runtimes = await runtimesOf(withPools(items.map(({ transaction }) => transaction.relayerId)))
    yield items
      .flatMap((item) => {
        const chain = runtimes.get(item.transaction.relayerId)?.chain
        return paymentRows(item, presentTransaction(item, chain), chain?.assetNames(NATIVE))
      })
      .map(csvLine)
      .join('')
  }
}

/**
 * @throws AppError `invalid_request` for an idempotency key without its relayer, and for amounts without
 * their asset
 */
function readFilter(query: Filters, callerId: string): TransactionFilter {
  if (query.idempotency_key !== undefined && query.relayer_id === undefined)
    throw new AppError(
      'invalid_request',
      'query.idempotency_key: expected together with relayer_id, because a key belongs to one relayer.',
    )
  if (query.asset === undefined && (query.min_amount ?? query.max_amount) !== undefined)
    throw new AppError(
      'invalid_request',
      'query.asset: is required with min_amount and max_amount, because they are in the smallest unit of one asset.',
    )
  return {
    id: query.id,
    relayerId: query.relayer_id,
    networkType: query.network_type,
    status: query.status,
    hash: query.hash === undefined ? undefined : canonicalHash(query.hash),
    // The key of the environment is the operator's, who looks for what others have sent.
    idempotencyKey:
      query.idempotency_key === undefined
        ? undefined
        : { key: query.idempotency_key, maker: callerId === ROOT_ID ? undefined : callerId },
    to: query.to,
    asset: query.asset,
    minAmount: query.min_amount === undefined ? undefined : BigInt(query.min_amount),
    maxAmount: query.max_amount === undefined ? undefined : BigInt(query.max_amount),
    reference: query.reference,
    requestedBy: query.requested_by,
    userId: query.user_id,
    createdFrom: query.created_after === undefined ? undefined : new Date(query.created_after),
    createdBefore: query.created_before === undefined ? undefined : new Date(query.created_before),
  }
}

/**
 * Hashes of EVM and Stellar are hexadecimal digits; in a signature of Solana, upper and lower case differ.
 */
function canonicalHash(hash: string): string {
  return /^(0x)?[0-9a-fA-F]{64}$/.test(hash) ? hash.toLowerCase() : hash
}

/** @throws AppError `invalid_request` for a cursor that no answer to this caller had */
async function readCursor(db: Db, { cursor }: Query, visibility: Visibility): Promise<bigint | undefined> {
  if (cursor === undefined) return undefined
  const position = await findPosition(db, cursor, visibility)
  if (position === undefined)
    throw new AppError(
      'invalid_request',
      'query.cursor: expected pagination.next_cursor of an earlier response; omit it to start over.',
    )
  return position
}
