import { sql } from 'kysely'
import { appendManagement } from '../../audit/append-store.ts'
import type { Author } from '../../audit/entry.ts'
import type { Db, Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { forgetChain } from '../../networks/chain-identity-store.ts'
import type { Network } from '../../networks/network.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { toTransaction } from './codec.ts'
import { IS_OPEN } from './due-store.ts'
import { saveTransactions } from './transactions-store.ts'

/** The network whose chain was reset. */
type ResetNetwork = Pick<Network, 'type' | 'name'>

/** The options of a reset. */
interface ResetOptions {
  readonly now: Date
  /**
   * If true, relayers with custom endpoints start over as well. Their chain may be another one under the same
   * name.
   */
  readonly includesOwnEndpoints: boolean
  readonly author: Author
}

/** The result of a reset. */
export interface ResetResult {
  /** The relayers that started over. */
  readonly relayerIds: readonly string[]
  /** The number of transactions that were open. */
  readonly ended: number
}

/** The number of transactions that one statement ends. It bounds the size of its parameter. */
const BATCH = 500

/**
 * Starts over on a network whose chain was reset, in one database transaction: open transactions end as
 * `failed`, what is stored of the old chain no longer counts for nonces and hashes, and the next nonces are
 * read from the new chain. The service then takes the first block that it sees next for that of the new
 * chain.
 */
export async function resetNetwork(
  db: Db,
  network: ResetNetwork,
  { now, includesOwnEndpoints, author }: ResetOptions,
): Promise<ResetResult> {
  return transact(db, async (tx) => {
    const relayerIds = await findRelayerIds(tx, network, includesOwnEndpoints)
    await endSteps(tx, relayerIds)
    const ended = await endOpen(tx, { network, relayerIds, now })
    await detach(tx, { network, relayerIds, now })
    await forgetChain(tx, network)
    const target = { type: 'network', id: `${network.type}:${network.name}` } as const
    const named = [...new Set(relayerIds.map(poolIdOf))]
    const after = { relayer_ids: named, ended_transactions: ended }
    await appendManagement(tx, { author, action: 'resetNetwork', target, after })
    return { relayerIds: named, ended }
  })
}

interface Scope {
  readonly network: ResetNetwork
  readonly relayerIds: readonly string[]
  readonly now: Date
}

async function findRelayerIds(
  tx: Tx,
  { type, name }: ResetNetwork,
  includesOwnEndpoints: boolean,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('relayers')
    .select('id')
    .where('network_type', '=', type)
    .where('network', '=', name)
    .$if(!includesOwnEndpoints, (query) => query.where('custom_rpc_urls', 'is', null))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Takes the accounts away from steps that are under way, so that none of them writes about the old chain
 * afterwards.
 */
async function endSteps(tx: Tx, relayerIds: readonly string[]): Promise<void> {
  const names = relayerIds.map((id) => `account:${id}`)
  await sql`
    update leases set fence = fence + 1, expires_at = now() where name = any(${names}::text[])`.execute(tx)
}

async function endOpen(tx: Tx, scope: Scope): Promise<number> {
  let ended = 0
  for (;;) {
    const open = await lockOpen(tx, scope)
    if (open.length === 0) return ended
    // None of them reserves anything afterwards.
    await saveTransactions(
      tx,
      open.map((transaction) => endedByReset(transaction, scope.now)),
    )
    ended += open.length
  }
}

async function lockOpen(tx: Tx, { network, relayerIds }: Scope): Promise<Transaction[]> {
  if (relayerIds.length === 0) return []
  // The order of locks: database/locks/lock-order.md.
  const rows = await tx
    .selectFrom('transactions')
    .selectAll()
    .where('relayer_id', 'in', [...relayerIds])
    .where('network', '=', network.name)
    .where(IS_OPEN)
    .orderBy('id')
    .limit(BATCH)
    .forUpdate()
    .execute()
  return rows.map(toTransaction)
}

/**
 * The idempotency keys of transactions that were sent with a nonce: the new chain counts from the beginning.
 */
const NONCE_KEYS = 'nonce %'

/** Marks the records of the old chain, and forgets its next nonces. */
async function detach(tx: Tx, { network, relayerIds, now }: Scope): Promise<void> {
  const ids = sql`any(${relayerIds}::text[])`
  await sql`
    update attempts a set reset_at = ${now} from transactions t
    where a.transaction_id = t.id and t.relayer_id = ${ids} and t.network = ${network.name} and a.reset_at is null`.execute(
    tx,
  )
  await sql`
    update transactions set reset_at = ${now}, reorganized_at = null
    where relayer_id = ${ids} and network = ${network.name} and reset_at is null`.execute(tx)
  await tx
    .deleteFrom('idempotency_keys')
    .where('relayer_id', 'in', [...relayerIds])
    .where('key', 'like', NONCE_KEYS)
    .execute()
  await sql`update accounts set next_nonce = null, known_nonce = null, known_slot = null, known_hash = null where relayer_id = ${ids}`.execute(
    tx,
  )
}

/**
 * Ends an open transaction of a chain that was reset. Pure: the record says that the old chain no longer
 * counts.
 */
function endedByReset(transaction: Transaction, now: Date): Transaction {
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'failed'),
    statusReason: `The chain of network ${transaction.network} was declared reset at ${now.toISOString()}, before this transaction was final.`,
    awaitsApproval: undefined,
    awaitsTransaction: undefined,
    cost: 0n,
    block: undefined,
    nextRunAt: now,
    undecidedSince: undefined,
    stuckSince: undefined,
    reorganizedAt: undefined,
  }
}
