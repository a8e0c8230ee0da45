import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'

/** Where a signer comes from: the configuration file, or a caller. */
export type SignerOrigin = 'file' | 'api'

/** The sealed secret of a signer that a caller created; undefined when there is no such signer. */
export async function findSealed(db: Kysely<Schema>, id: string): Promise<Uint8Array | undefined> {
  const row = await db.selectFrom('signers').select('sealed').where('id', '=', id).executeTakeFirst()
  return row?.sealed ?? undefined
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
