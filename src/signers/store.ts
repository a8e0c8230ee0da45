import { isDeepStrictEqual } from 'node:util'
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../database/db.ts'
import type { SignersTable } from '../database/tables/relayers.ts'
import type { SignerDescription } from './providers/registry.ts'
import { decodePublicKeys, type PublicKeys, type StoredPublicKeys } from './remote/remote-key.ts'

/**
 * The type of a signer whose key the service created. The file cannot have one: its key is in the database
 * alone.
 */
export const GENERATED = 'generated'

/** The origin of a signer: the configuration file, or a caller. */
type SignerOrigin = 'file' | 'api'

/** A signer with its sealed secret: null for one of the file. */
export interface SealedSigner {
  readonly id: string
  readonly type: string
  readonly sealed: Uint8Array | null
  /** Absent if the key is in this process. */
  readonly publicKeys?: StoredPublicKeys
}

/** Reads signers with their sealed secrets, in the order of the ids; null for those that do not exist. */
export async function findSealed(db: Db, ids: readonly string[]): Promise<(SealedSigner | null)[]> {
  const rows = await db
    .selectFrom('signers')
    .select(['id', 'type', 'sealed', 'public_keys'])
    .where(sql<boolean>`id = any(${[...ids]}::text[])`)
    .execute()
  const signers = new Map(
    rows.map(({ public_keys: publicKeys, ...signer }) => [
      signer.id,
      { ...signer, ...(publicKeys && { publicKeys }) },
    ]),
  )
  return ids.map((id) => signers.get(id) ?? null)
}

/** A signer that relayers can use, without its secret. */
export interface StoredSigner {
  readonly id: string
  readonly type: string
  readonly origin: SignerOrigin
  /** The public part of its configuration, by wire names. */
  readonly config: object
}

/** Reads one signer; undefined also for a deleted one of the file, whose key may still be loaded. */
export async function findSigner(db: Db, id: string): Promise<StoredSigner | undefined> {
  const row = await db
    .selectFrom('signers')
    .select(['id', 'type', 'sealed', 'config'])
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toSigner(row)
}

/**
 * Reads and locks one signer until the commit. `share`: prevents its deletion, for a caller that is about to
 * refer to it · `update`: also prevents `share`, for a caller that is about to delete it.
 */
export async function lockSigner(
  tx: Tx,
  id: string,
  strength: 'share' | 'update',
): Promise<StoredSigner | undefined> {
  const found = tx.selectFrom('signers').select(['id', 'type', 'sealed', 'config']).where('id', '=', id)
  // The order of locks: database/locks/lock-order.md.
  const row = await (strength === 'share' ? found.forShare() : found.forUpdate()).executeTakeFirst()
  return row && toSigner(row)
}

/** Lists signers in order of creation, then id. `total` counts all of them, regardless of the range. */
export async function listSigners(
  db: Db,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ items: StoredSigner[]; total: number }> {
  const [rows, { total }] = await Promise.all([
    db
      .selectFrom('signers')
      .select(['id', 'type', 'sealed', 'config'])
      .orderBy('created_at')
      .orderBy('id')
      .offset(offset)
      .limit(limit)
      .execute(),
    db
      .selectFrom('signers')
      .select((eb) => eb.fn.countAll<bigint>().as('total'))
      .executeTakeFirstOrThrow(),
  ])
  return { items: rows.map(toSigner), total: Number(total) }
}

interface NewSigner {
  readonly id: string
  readonly type: string
  /**
   * The sealed secret: 64 hex digits for a key (`plain`, `generated`), otherwise a whole configuration as
   * JSON.
   */
  readonly sealed: Uint8Array
  readonly config?: object | undefined
  readonly publicKeys?: StoredPublicKeys | undefined
}

/**
 * Returns true if a caller cannot have this id for a new signer. An id of the configuration file stays in use
 * after a caller has deleted its signer: the file's key would otherwise be mistaken for the caller's.
 */
export async function isIdTaken(tx: Tx, id: string): Promise<boolean> {
  const entry = await tx
    .selectFrom('file_entries')
    .select('id')
    .where('kind', '=', 'signer')
    .where('id', '=', id)
    .executeTakeFirst()
  if (entry !== undefined) return true
  const signer = await tx.selectFrom('signers').select('id').where('id', '=', id).executeTakeFirst()
  return signer !== undefined
}

/** Adds a signer of a caller. Returns false when the id is in use. */
export async function insertSigner(tx: Tx, signer: NewSigner): Promise<boolean> {
  if (await isIdTaken(tx, signer.id)) return false
  const inserted = await tx
    .insertInto('signers')
    .values(toRow(signer))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Reads the origin of each signer, by id, and locks the signers until the commit. */
export async function listStored(tx: Tx): Promise<Map<string, SignerOrigin>> {
  const rows = await tx.selectFrom('signers').select(['id', 'sealed']).forUpdate().execute()
  return new Map(rows.map(({ id, sealed }) => [id, sealed === null ? 'file' : 'api']))
}

/** Stores a signer of the file, without its secret. */
export async function saveConfiguredSigner(tx: Tx, signer: Omit<NewSigner, 'sealed'>): Promise<void> {
  const { id, ...columns } = toRow(signer)
  await tx
    .insertInto('signers')
    .values({ id, ...columns })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
    .execute()
}

function toRow({ config, publicKeys, ...signer }: Omit<NewSigner, 'sealed'> & Partial<NewSigner>) {
  return {
    ...signer,
    config: config ? JSON.stringify(config) : null,
    public_keys: publicKeys ? JSON.stringify(publicKeys) : null,
  }
}

/** Seals the secret of every signer of a caller again. */
export async function resealSigners(
  tx: Tx,
  reseal: (sealed: Uint8Array, signerId: string) => Uint8Array,
): Promise<number> {
  const rows = await tx
    .selectFrom('signers')
    .select(['id', 'sealed'])
    .where('sealed', 'is not', null)
    .forUpdate()
    .execute()
  for (const { id, sealed } of rows)
    if (sealed !== null)
      await tx
        .updateTable('signers')
        .set({ sealed: reseal(sealed, id) })
        .where('id', '=', id)
        .execute()
  return rows.length
}

/** Deletes signers that no relayer refers to. */
export async function deleteSigners(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .deleteFrom('signers')
    .where('id', 'in', [...ids])
    .execute()
}

function toSigner({
  id,
  type,
  sealed,
  config,
}: Pick<Selectable<SignersTable>, 'id' | 'type' | 'sealed' | 'config'>): StoredSigner {
  return { id, type, origin: sealed === null ? 'file' : 'api', config: config ?? {} }
}

/**
 * Gives the form of a signer that answers and the audit log may show. Existing clients know a private key
 * stored by the service as `local`.
 */
export function shownSigner({ id, type, config }: Pick<StoredSigner, 'id' | 'type' | 'config'>) {
  return { id, type: type === 'plain' ? 'local' : type, config }
}

/**
 * Reads the public keys that a signer of the file had at an earlier start. A signer with another
 * configuration since then has none.
 */
export async function findRemembered(
  db: Db,
  { id, type, config }: SignerDescription,
): Promise<PublicKeys | undefined> {
  const row = await db
    .selectFrom('signers')
    .select(['type', 'config', 'public_keys'])
    .where('id', '=', id)
    .where('sealed', 'is', null)
    .executeTakeFirst()
  if (!row?.public_keys || row.type !== type || !isDeepStrictEqual(row.config, config)) return undefined
  return decodePublicKeys(row.public_keys)
}
