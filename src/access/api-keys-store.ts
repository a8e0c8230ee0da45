import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../database/db.ts'
import type { ApiKeySecretsTable, ApiKeysTable } from '../database/tables/access.ts'
import { omitUndefined } from '../lib/object.ts'
import { decodeRules, encodeRules } from '../spending/rule-table.ts'
import type { ApiKey, SecretRecord } from './api-key.ts'
import type { Rights } from './principal.ts'
import type { Scope } from './scope.ts'

/** The channel on which the database announces committed changes of keys. */
export const API_KEYS_CHANNEL = 'api_keys_changed'

/** A secret before it is stored. */
export interface NewSecret {
  readonly hash: Uint8Array
  readonly prefix: string
  readonly createdAt: Date
}

/** A key before it is stored. */
export interface NewApiKey extends Rights {
  readonly id: string
  readonly name: string
  readonly createdBy: string
  readonly createdAt: Date
}

/** The part of a key that can change. */
export type ChangedApiKey = Pick<
  ApiKey,
  'name' | 'disabled' | 'scopes' | 'visibility' | 'rules' | 'expiresAt'
>

/** The hash of an accepted secret. */
export interface StoredSecret {
  /** Lower-case hex digits. */
  readonly hash: string
  readonly keyId: string
  readonly expiresAt?: Date | undefined
}

/** The keys and secrets of a moment. */
export interface KeySnapshot {
  readonly version: bigint
  readonly keys: readonly ApiKey[]
  readonly secrets: readonly StoredSecret[]
}

/** Lists keys in the order of their creation, then id. `total` counts all of them. */
export async function listApiKeys(
  db: Db,
  { offset, limit, now }: { readonly offset: number; readonly limit: number; readonly now: Date },
): Promise<{ items: ApiKey[]; total: number }> {
  const [rows, { total }] = await Promise.all([
    keysOf(db).orderBy('created_at').orderBy('id').offset(offset).limit(limit).execute(),
    db
      .selectFrom('api_keys')
      .where('deleted_at', 'is', null)
      .select((eb) => eb.fn.countAll<bigint>().as('total'))
      .executeTakeFirstOrThrow(),
  ])
  return { items: await withSecrets(db, rows, now), total: Number(total) }
}

/** Finds a key; undefined also for a deleted one. */
export async function findApiKey(db: Db, id: string, now: Date): Promise<ApiKey | undefined> {
  const rows = await keysOf(db).where('id', '=', id).execute()
  const [key] = await withSecrets(db, rows, now)
  return key
}

/** Locks a key against other changes until the commit; false when there is none. */
export async function lockApiKey(tx: Tx, id: string): Promise<boolean> {
  // The order of locks: database/locks/lock-order.md.
  const row = await tx
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** Stores a key with its first secret; false when the id was ever used. */
export async function insertApiKey(tx: Tx, key: NewApiKey, secret: NewSecret): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('api_keys')
    .values({
      id: key.id,
      name: key.name,
      created_by: key.createdBy,
      created_at: key.createdAt,
      ...columnsOf(key),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== 1n) return false
  await insertSecret(tx, key.id, secret)
  return true
}

/** Overwrites what can change of a key. */
export async function updateApiKey(tx: Tx, id: string, key: ChangedApiKey): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ name: key.name, disabled: key.disabled, ...columnsOf(key) })
    .where('id', '=', id)
    .execute()
}

/**
 * Stores a further secret. The newest of the others is accepted until `previousEnds`, and older ones no
 * longer.
 */
export async function replaceSecret(
  tx: Tx,
  id: string,
  { secret, previousEnds }: { readonly secret: NewSecret; readonly previousEnds: Date },
): Promise<void> {
  await tx
    .deleteFrom('api_key_secrets')
    .where('api_key_id', '=', id)
    .where('expires_at', 'is not', null)
    .execute()
  await tx
    .updateTable('api_key_secrets')
    .set({ expires_at: previousEnds })
    .where('api_key_id', '=', id)
    .execute()
  await insertSecret(tx, id, secret)
}

/** Deletes the secrets of a key, and marks the key as deleted. */
export async function deleteApiKey(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.deleteFrom('api_key_secrets').where('api_key_id', '=', id).execute()
  await tx.updateTable('api_keys').set({ deleted_at: now }).where('id', '=', id).execute()
}

/** Reads the number of the newest change. */
export async function readKeyVersion(db: Db): Promise<bigint> {
  const { version } = await db.selectFrom('api_key_changes').select('version').executeTakeFirstOrThrow()
  return version
}

/** Reads every key that was not deleted. The version is at most as new as the keys. */
export async function readKeySnapshot(db: Db): Promise<KeySnapshot> {
  const version = await readKeyVersion(db)
  const rows = await keysOf(db).execute()
  const secrets = await db.selectFrom('api_key_secrets').selectAll().execute()
  return {
    version,
    keys: rows.map((row) => toApiKey(row, [])),
    secrets: secrets.map(({ hash, api_key_id: keyId, expires_at: expiresAt }) => ({
      hash: Buffer.from(hash).toString('hex'),
      keyId,
      expiresAt: expiresAt ?? undefined,
    })),
  }
}

/** Stores the last uses of keys. A key that has since been deleted keeps its row. */
export async function saveUses(db: Db, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return
  await db
    .insertInto('api_key_uses')
    .values([...uses].sort().map(([id, at]) => ({ api_key_id: id, last_used_at: at })))
    .onConflict((conflict) =>
      conflict.column('api_key_id').doUpdateSet({
        last_used_at: sql<Date>`greatest(api_key_uses.last_used_at, excluded.last_used_at)`,
      }),
    )
    .execute()
}

function keysOf(db: Db) {
  return db
    .selectFrom('api_keys')
    .leftJoin('api_key_uses', 'api_key_uses.api_key_id', 'api_keys.id')
    .selectAll('api_keys')
    .select('api_key_uses.last_used_at')
    .where('deleted_at', 'is', null)
}

type KeyRow = Selectable<ApiKeysTable> & { readonly last_used_at: Date | null }

async function withSecrets(db: Db, rows: readonly KeyRow[], now: Date): Promise<ApiKey[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const secrets = await db
    .selectFrom('api_key_secrets')
    .selectAll()
    .where('api_key_id', 'in', ids)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .execute()
  const byKey = Map.groupBy(secrets, (secret) => secret.api_key_id)
  return rows.map((row) => toApiKey(row, byKey.get(row.id) ?? []))
}

function toApiKey(row: KeyRow, secrets: readonly Selectable<ApiKeySecretsTable>[]): ApiKey {
  return omitUndefined({
    id: row.id,
    name: row.name,
    // The service wrote them itself.
    scopes: row.scopes as Scope[],
    visibility: omitUndefined({ relayers: row.relayers ?? undefined, networks: row.networks ?? undefined }),
    rules: row.rules === null ? undefined : decodeRules(row.rules),
    disabled: row.disabled,
    expiresAt: row.expires_at ?? undefined,
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastUsedAt: row.last_used_at ?? undefined,
    secrets: secrets.map(toSecretRecord),
  })
}

function toSecretRecord(row: Selectable<ApiKeySecretsTable>): SecretRecord {
  return omitUndefined({
    prefix: row.prefix,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
  })
}

function columnsOf({ scopes, visibility, rules, expiresAt }: Rights) {
  return {
    scopes: JSON.stringify(scopes),
    relayers: visibility.relayers ? JSON.stringify(visibility.relayers) : null,
    networks: visibility.networks ? JSON.stringify(visibility.networks) : null,
    rules: rules ? encodeRules(rules) : null,
    expires_at: expiresAt ?? null,
  }
}

async function insertSecret(tx: Tx, id: string, secret: NewSecret): Promise<void> {
  await tx
    .insertInto('api_key_secrets')
    .values({ hash: secret.hash, api_key_id: id, prefix: secret.prefix, created_at: secret.createdAt })
    .execute()
}
