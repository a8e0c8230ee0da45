import type { Db, Tx } from '../../database/db.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'

// The keys of a relayer hold for all of its accounts, and are stored under the id that callers know.

/** An idempotency key, and who chose it: the same key of another API key is another name (I19). */
export interface KeyName {
  readonly key: string
  /** The id of the API key; {@link EVERYONE} if the name is the same for all. */
  readonly maker: string
}

/** The maker of names that no one chooses, e.g. a nonce of the account. */
export const EVERYONE = ''

/** A key with its request. */
export interface KeyRecord extends KeyName {
  /** Distinguishes bodies. */
  readonly fingerprint: string
  readonly transactionId: string
}

/** Keys that were used before. */
export interface UsedKeys {
  readonly size: number
  get(name: KeyName): KeyRecord | undefined
  add(record: KeyRecord): void
}

/** Finds those of the names that were used before at the relayer. */
export async function findKeys(db: Db, relayerId: string, names: readonly KeyName[]): Promise<UsedKeys> {
  if (names.length === 0) return usedKeys(names, [])
  const makers = new Set(names.map(({ maker }) => maker))
  const rows = await db
    .selectFrom('idempotency_keys')
    .select(['key', 'api_key_id', 'fingerprint', 'transaction_id'])
    .where('relayer_id', '=', poolIdOf(relayerId))
    .where(
      'key',
      'in',
      names.map(({ key }) => key),
    )
    .where('api_key_id', 'in', [...makers])
    .execute()
  const records = rows.map((row) => ({
    key: row.key,
    maker: row.api_key_id,
    fingerprint: row.fingerprint,
    transactionId: row.transaction_id,
  }))
  return usedKeys(names, records)
}

function usedKeys(names: readonly KeyName[], records: readonly KeyRecord[]): UsedKeys {
  const wanted = new Set(names.map(nameOf))
  const used = new Map(
    records.map((record) => [nameOf(record), record] as const).filter(([name]) => wanted.has(name)),
  )
  return {
    get size() {
      return used.size
    },
    get: (name) => used.get(nameOf(name)),
    add: (record) => used.set(nameOf(record), record),
  }
}

function nameOf({ maker, key }: KeyName): string {
  return `${maker} ${key}`
}

/** Finds one key of the relayer; undefined if it was not used before. */
export async function findKey(db: Db, relayerId: string, name: KeyName): Promise<KeyRecord | undefined> {
  return (await findKeys(db, relayerId, [name])).get(name)
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
  // An insert waits for another one of the same key, and several in one order do not deadlock.
  const sorted = records.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const inserted = await tx
    .insertInto('idempotency_keys')
    .values(
      sorted.map(({ key, maker, fingerprint, transactionId }) => ({
        relayer_id: poolIdOf(relayerId),
        key,
        api_key_id: maker,
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
  { key, maker, transactionId }: Omit<KeyRecord, 'fingerprint'>,
): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('relayer_id', '=', poolIdOf(relayerId))
    .where('key', '=', key)
    .where('api_key_id', '=', maker)
    .where('transaction_id', '=', transactionId)
    .execute()
}
