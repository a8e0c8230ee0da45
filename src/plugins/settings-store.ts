import { sql } from 'kysely'
import { CONFIGURATION } from '../audit/entry.ts'
import type { Db, Tx } from '../database/db.ts'
import { fromExactJson, toExactJson } from '../lib/json.ts'
import { encodeRules } from '../spending/rule-table.ts'
import { keyIdOf, type PluginConfig, type PluginSettings } from './plugin.ts'

/** The settings that callers changed, over those of the file. A null `config` removes it. */
export type ChangedSettings = {
  readonly [Field in Exclude<keyof PluginSettings, 'config'>]?: PluginSettings[Field] | undefined
} & {
  readonly config?: Readonly<Record<string, unknown>> | null | undefined
}

/** Reads the changed settings of every plugin, by id. */
export async function readChangedSettings(db: Db): Promise<ReadonlyMap<string, ChangedSettings>> {
  const rows = await db.selectFrom('plugins').select(['id', 'settings']).execute()
  // The service wrote them itself.
  return new Map(rows.map(({ id, settings }) => [id, fromExactJson(settings) as ChangedSettings]))
}

/** Locks the changed settings of a plugin until the commit, and returns them. */
export async function lockSettings(tx: Tx, id: string): Promise<ChangedSettings> {
  await tx
    .insertInto('plugins')
    .values({ id, settings: '{}' })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  // The order of locks: database/locks/lock-order.md.
  const row = await tx
    .selectFrom('plugins')
    .select('settings')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return fromExactJson(row?.settings ?? {}) as ChangedSettings
}

/** Replaces the changed settings of a plugin. */
export async function saveSettings(tx: Tx, id: string, settings: ChangedSettings): Promise<void> {
  await tx
    .updateTable('plugins')
    .set({ settings: JSON.stringify(toExactJson(settings)) })
    .where('id', '=', id)
    .execute()
}

/** Forgets what callers changed: the entry of the file applies again. */
export async function forgetSettings(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.deleteFrom('plugins').where('id', 'in', ids).execute()
}

/**
 * Stores the rights of a plugin as an API key without a secret: the processes of the service have secrets of
 * their own for it, in memory. Returns false if a caller created a key with this id.
 */
export async function savePluginKey(
  tx: Tx,
  { id, rights }: Pick<PluginConfig, 'id' | 'rights'>,
): Promise<boolean> {
  const { scopes, visibility, rules } = rights
  const columns = {
    name: `Plugin ${id}`,
    scopes: JSON.stringify(scopes),
    relayers: visibility.relayers ? JSON.stringify(visibility.relayers) : null,
    networks: null,
    rules: rules ? encodeRules(rules) : null,
    expires_at: null,
    deleted_at: null,
  }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('api_keys')
    .values({ id: keyIdOf(id), created_by: CONFIGURATION.keyId, ...columns })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ ...columns, disabled: false })
        .where('api_keys.created_by', '=', CONFIGURATION.keyId),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Ends the keys of plugins that the file no longer has. */
export async function removePluginKeys(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('api_keys')
    .set({ deleted_at: sql<Date>`now()` })
    .where('id', 'in', ids.map(keyIdOf))
    .where('created_by', '=', CONFIGURATION.keyId)
    .execute()
}
