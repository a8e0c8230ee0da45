import type { Visibility } from '../access/visibility.ts'
import type { HandlerMap, Input } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import {
  findPosition,
  searchTransactions,
  type TransactionFilter,
} from '../transactions/store/search-store.ts'
import { withDecodedCalls } from './present/decoded-calls.ts'
import { presentTransaction } from './present/transaction.ts'

/** The maximum number of transactions in one answer; a larger `limit` counts as this. */
const MAX_LIMIT = 100

/** The parts of the service that this operation calls. */
export interface SearchTransactionsDeps {
  readonly db: Db
  /** Returns the runtimes of these relayers by id, without those of relayers that were removed. */
  readonly runtimesOf: (relayerIds: readonly string[]) => Promise<ReadonlyMap<string, RelayerRuntime>>
}

type Query = Input<'searchTransactions'>['query']

/** The operation that looks for transactions of all relayers that the caller sees. */
export function searchTransactionsHandlers({
  db,
  runtimesOf,
}: SearchTransactionsDeps): Pick<HandlerMap, 'searchTransactions'> {
  return {
    searchTransactions: async ({ query }, { principal: { visibility } }) => {
      const search = {
        ...readFilter(query),
        visibility,
        before: await readCursor(db, query, visibility),
        limit: Math.min(MAX_LIMIT, query.limit ?? MAX_LIMIT),
      }
      const { items, lastId } = await searchTransactions(db, search)
      const runtimes = await runtimesOf([...new Set(items.map(({ transaction }) => transaction.relayerId))])
      const chainOf = (relayerId: string) => runtimes.get(relayerId)?.chain
      const shown = items.map((item) => presentTransaction(item, chainOf(item.transaction.relayerId)))
      return {
        data: await withDecodedCalls(db, shown, chainOf),
        pagination: { next_cursor: lastId ?? null },
      }
    },
  }
}

/** @throws AppError `invalid_request` for an idempotency key without its relayer */
function readFilter(query: Query): TransactionFilter {
  if (query.idempotency_key !== undefined && query.relayer_id === undefined)
    throw new AppError(
      'invalid_request',
      'query.idempotency_key: expected together with relayer_id, because a key belongs to one relayer.',
    )
  return {
    id: query.id,
    relayerId: query.relayer_id,
    networkType: query.network_type,
    status: query.status,
    hash: query.hash === undefined ? undefined : canonicalHash(query.hash),
    idempotencyKey: query.idempotency_key,
    to: query.to?.toLowerCase(),
    createdFrom: query.created_after === undefined ? undefined : new Date(query.created_after),
    createdBefore: query.created_before === undefined ? undefined : new Date(query.created_before),
  }
}

/** Hashes of EVM and Stellar are hexadecimal digits; in a signature of Solana, upper and lower case differ. */
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
      'query.cursor: expected pagination.next_cursor of an earlier answer; leave it out to begin anew.',
    )
  return position
}
