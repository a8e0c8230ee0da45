import type { Db } from '../../database/schema.ts'
import { AppError } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { findTransaction } from './read-store.ts'

/** @throws AppError 404 `transaction_not_found`, also for the id of another relayer's transaction */
export async function requireTransaction(
  db: Db,
  relayer: Relayer,
  id: string,
): Promise<TransactionWithAttempts> {
  const item = await findTransaction(db, relayer.id, id)
  if (item === undefined)
    throw new AppError('transaction_not_found', `Relayer ${relayer.id} has no transaction ${id}.`)
  return item
}
