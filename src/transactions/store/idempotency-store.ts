import type { Db, Tx } from '../../database/db.ts'

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
    .where('relayer_id', '=', relayerId)
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

/** Stores keys with the transactions that they created. It fails when one exists already. */
export async function insertKeys(tx: Tx, relayerId: string, records: readonly KeyRecord[]): Promise<void> {
  if (records.length === 0) return
  await tx
    .insertInto('idempotency_keys')
    .values(
      records.map(({ key, fingerprint, transactionId }) => ({
        relayer_id: relayerId,
        key,
        fingerprint,
        transaction_id: transactionId,
      })),
    )
    .execute()
}

/** Forgets a key, if it still belongs to this transaction. */
export async function releaseKey(
  db: Db,
  relayerId: string,
  { key, transactionId }: Pick<KeyRecord, 'key' | 'transactionId'>,
): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('relayer_id', '=', relayerId)
    .where('key', '=', key)
    .where('transaction_id', '=', transactionId)
    .execute()
}
