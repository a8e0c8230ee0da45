import type { Db, Tx } from '../../database/db.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'

// The keys of a relayer hold for all of its accounts, and are stored under the id that callers know.

/** An idempotency key with its request. */
export interface KeyRecord {
  readonly key: string
  /** Distinguishes bodies. */
  readonly fingerprint: string
  readonly transactionId: string
}

/** Finds the keys of the relayer that were used before, by key. */
export async function findKeys(
  db: Db,
  relayerId: string,
  keys: readonly string[],
): Promise<Map<string, KeyRecord>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .selectFrom('idempotency_keys')
    .select(['key', 'fingerprint', 'transaction_id'])
    .where('relayer_id', '=', poolIdOf(relayerId))
    .where('key', 'in', [...keys])
    .execute()
  return new Map(
    rows.map((row) => [
      row.key,
      { key: row.key, fingerprint: row.fingerprint, transactionId: row.transaction_id },
    ]),
  )
}

/** Finds one key of the relayer; undefined if it was not used before. */
export async function findKey(db: Db, relayerId: string, key: string): Promise<KeyRecord | undefined> {
  return (await findKeys(db, relayerId, [key])).get(key)
}

/** A request of another account of the relayer has used a key since it was looked for. */
export class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError'
}

/**
 * Stores keys with the transactions that they created.
 * @throws KeyTakenError when one exists already; then the database transaction must be repeated
 */
export async function insertKeys(tx: Tx, relayerId: string, records: readonly KeyRecord[]): Promise<void> {
  if (records.length === 0) return
  const inserted = await tx
    .insertInto('idempotency_keys')
    .values(
      records.map(({ key, fingerprint, transactionId }) => ({
        relayer_id: poolIdOf(relayerId),
        key,
        fingerprint,
        transaction_id: transactionId,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
    .execute()
  if (inserted.length < records.length) throw new KeyTakenError('An idempotency key was used meanwhile.')
}

/** Forgets a key, if it still belongs to this transaction. */
export async function releaseKey(
  db: Db,
  relayerId: string,
  { key, transactionId }: Pick<KeyRecord, 'key' | 'transactionId'>,
): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('relayer_id', '=', poolIdOf(relayerId))
    .where('key', '=', key)
    .where('transaction_id', '=', transactionId)
    .execute()
}
