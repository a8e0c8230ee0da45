import type { Kysely } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from './attempts-store.ts'
import { toTransaction } from './codec.ts'

/** The transaction that has this nonce of the relayer's own account, on the network where the relayer is now. */
export async function findByNonce(
  db: Kysely<Schema>,
  { id, network, address }: Pick<Relayer, 'id' | 'network' | 'address'>,
  nonce: bigint,
): Promise<TransactionWithAttempts | undefined> {
  const row = await db
    .selectFrom('transactions')
    .selectAll()
    .where('relayer_id', '=', id)
    .where('network', '=', network)
    .where('source_account', '=', address)
    .where('nonce', '=', nonce)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const transaction = toTransaction(row)
  const attempts = await findAttempts(db, [transaction])
  return { transaction, attempts: attempts.get(transaction.id) ?? [] }
}
