import type { JSONColumnType } from 'kysely'

/** The settings of plugins that callers changed, over those of the configuration file. */
export interface PluginsTable {
  id: string
  settings: JSONColumnType<object>
}

/** The values that plugins store. */
export interface PluginValuesTable {
  plugin_id: string
  key: string
  /** JSON. */
  value: string
  bytes: number
  /** By the clock of the database; null for none. */
  expires_at: Date | null
}

/** The locks that plugins hold. */
export interface PluginLocksTable {
  plugin_id: string
  key: string
  owner: string
  /** By the clock of the database. */
  expires_at: Date
}
