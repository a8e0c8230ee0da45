import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Schema, SignersTable } from '../database/schema.ts'

/** Where a signer comes from: the configuration file, or a caller. */
export type SignerOrigin = 'file' | 'api'

/** The sealed secret of a signer that a caller created; null for one of the file; undefined when there is no such signer. */
export async function findSealed(db: Kysely<Schema>, id: string): Promise<Uint8Array | null | undefined> {
  const row = await db.selectFrom('signers').select('sealed').where('id', '=', id).executeTakeFirst()
  return row?.sealed
}

/** A signer that relayers can be created with. Says nothing of its secret. */
export interface StoredSigner {
  readonly id: string
  readonly type: string
  readonly origin: SignerOrigin
}

/** Undefined when there is none of this id, or it was deleted: the key of one of the file may still be loaded then. */
export async function findSigner(db: Kysely<Schema>, id: string): Promise<StoredSigner | undefined> {
  const row = await db
    .selectFrom('signers')
    .select(['id', 'type', 'sealed'])
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toSigner(row)
}

/**
 * `findSigner`, held until the commit: `share` against its deletion, for who is about to refer to it; `update` against those,
 * too, for who is about to delete it.
 */
export async function lockSigner(
  tx: Transaction<Schema>,
  id: string,
  strength: 'share' | 'update',
): Promise<StoredSigner | undefined> {
  const found = tx.selectFrom('signers').select(['id', 'type', 'sealed']).where('id', '=', id)
  const row = await (strength === 'share' ? found.forShare() : found.forUpdate()).executeTakeFirst()
  return row && toSigner(row)
}

/** Signers in order of creation, then id. `total` counts all of them, whatever the range. */
export async function listSigners(
  db: Kysely<Schema>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ items: StoredSigner[]; total: number }> {
  const [rows, { total }] = await Promise.all([
    db
      .selectFrom('signers')
      .select(['id', 'type', 'sealed'])
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
  /** Its secret: 64 hex digits, sealed. */
  readonly sealed: Uint8Array
}

/**
 * Adds a signer of a caller. False, and nothing was done, when its id is taken; those of the configuration file are, even when
 * a caller has deleted their signer: its key would be mistaken for the caller's.
 */
export async function insertSigner(tx: Transaction<Schema>, signer: NewSigner): Promise<boolean> {
  const entry = await tx
    .selectFrom('file_entries')
    .select('id')
    .where('kind', '=', 'signer')
    .where('id', '=', signer.id)
    .executeTakeFirst()
  if (entry !== undefined) return false
  const inserted = await tx
    .insertInto('signers')
    .values(signer)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Where each signer comes from, by id. Held against changes until the commit. */
export async function listStored(tx: Transaction<Schema>): Promise<Map<string, SignerOrigin>> {
  const rows = await tx.selectFrom('signers').select(['id', 'sealed']).forUpdate().execute()
  return new Map(rows.map(({ id, sealed }) => [id, sealed === null ? 'file' : 'api']))
}

/** Makes a signer of the file known. */
export async function saveConfiguredSigner(
  tx: Transaction<Schema>,
  { id, type }: { readonly id: string; readonly type: string },
): Promise<void> {
  await tx
    .insertInto('signers')
    .values({ id, type })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ type }))
    .execute()
}

/** Forgets signers that no relayer refers to. */
export async function deleteSigners(tx: Transaction<Schema>, ids: readonly string[]): Promise<void> {
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
}: Pick<Selectable<SignersTable>, 'id' | 'type' | 'sealed'>): StoredSigner {
  return { id, type, origin: sealed === null ? 'file' : 'api' }
}
