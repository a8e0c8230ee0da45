import { sql } from 'kysely'
import type { Db, Tx } from './schema.ts'
import { SEALED_PREFIX } from './sealed-columns.ts'

/** Seals the urls that were stored as plain text while the deployment had no key. `db` has sealed columns. */
export function sealStoredUrls(db: Db): Promise<void> {
  return db.transaction().execute((tx) => sealUrls(tx, 'plain'))
}

/** The JSON types of a list of urls: an array is plain, a string is sealed. */
const JSON_TYPES = { plain: ['array'], all: ['array', 'string'] } as const

/** Seals the urls that are plain text, or all of them again. `tx` has sealed columns, so each row only has to be read and written. */
export async function sealUrls(tx: Tx, which: keyof typeof JSON_TYPES): Promise<void> {
  const types = sql.join(JSON_TYPES[which])
  const relayers = await tx
    .selectFrom('relayers')
    .select(['id', 'custom_rpc_urls'])
    .where(sql<boolean>`jsonb_typeof(custom_rpc_urls) in (${types})`)
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
    .where(sql<boolean>`jsonb_typeof(rpc_urls) in (${types})`)
    .forUpdate()
    .execute()
  for (const { network_type, network, rpc_urls } of networks)
    await tx
      .updateTable('network_urls')
      .set({ rpc_urls: JSON.stringify(rpc_urls) })
      .where('network_type', '=', network_type)
      .where('network', '=', network)
      .execute()
  const privateUrls = await tx
    .selectFrom('network_private_urls')
    .selectAll()
    .where(sql<boolean>`jsonb_typeof(private_rpc_urls) in (${types})`)
    .forUpdate()
    .execute()
  for (const { network_type, network, private_rpc_urls } of privateUrls)
    await tx
      .updateTable('network_private_urls')
      .set({ private_rpc_urls: JSON.stringify(private_rpc_urls) })
      .where('network_type', '=', network_type)
      .where('network', '=', network)
      .execute()
  const notifications = await tx
    .selectFrom('notifications')
    .select(['id', 'url'])
    .where('url', 'not like', which === 'all' ? '' : `${SEALED_PREFIX}%`)
    .forUpdate()
    .execute()
  for (const { id, url } of notifications)
    await tx.updateTable('notifications').set({ url }).where('id', '=', id).execute()
}
