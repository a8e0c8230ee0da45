import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'
import { SEALED_PREFIX } from './sealed-columns.ts'

/**
 * Seals the urls that an earlier release, or a deployment without a key, has stored as plain text. `db` has sealed columns, so each row only
 * has to be read and written.
 */
export function sealStoredUrls(db: Kysely<Schema>): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const relayers = await tx
      .selectFrom('relayers')
      .select(['id', 'custom_rpc_urls'])
      .where(sql<boolean>`jsonb_typeof(custom_rpc_urls) = 'array'`)
      .forUpdate()
      .execute()
    for (const { id, custom_rpc_urls } of relayers)
      await tx
        .updateTable('relayers')
        .set({ custom_rpc_urls: JSON.stringify(custom_rpc_urls) })
        .where('id', '=', id)
        .execute()
    const networks = await tx
      .selectFrom('network_urls')
      .selectAll()
      .where(sql<boolean>`jsonb_typeof(rpc_urls) = 'array'`)
      .forUpdate()
      .execute()
    for (const { network_type, network, rpc_urls } of networks)
      await tx
        .updateTable('network_urls')
        .set({ rpc_urls: JSON.stringify(rpc_urls) })
        .where('network_type', '=', network_type)
        .where('network', '=', network)
        .execute()
    const notifications = await tx
      .selectFrom('notifications')
      .select(['id', 'url'])
      .where('url', 'not like', `${SEALED_PREFIX}%`)
      .forUpdate()
      .execute()
    for (const { id, url } of notifications)
      await tx.updateTable('notifications').set({ url }).where('id', '=', id).execute()
  })
}
