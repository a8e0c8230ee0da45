import type { Kysely } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { RelayerAccounts } from '../../relayers/accounts.ts'
import { lockRelayers } from '../../relayers/store.ts'
import type { Config } from '../load.ts'
import type { ConfigChange } from './changes.ts'
import { applyNotifications, removeNotifications } from './notifications.ts'
import { applyRelayers } from './relayers.ts'
import { applySigners, removeSigners } from './signers.ts'

type Applied = Pick<Config, 'relayers' | 'notifications' | 'signers'>

/**
 * Brings what changed in the configuration file since it was last applied to what is stored, in one database transaction, and tells
 * what that did. An entry that is as it was is left alone: what callers of the API made of its record since stays, a deletion
 * included. A relayer that the file no longer names is taken off the list and keeps its history; named again, it comes back. What
 * callers created is theirs. `accounts` gives those of each relayer of the configuration.
 * @throws ConfigError when that would strand transactions or references, or give two relayers the same account; then nothing is
 * changed
 */
export function applyConfig(
  db: Kysely<Schema>,
  { relayers, notifications, signers }: Applied,
  accounts: ReadonlyMap<string, RelayerAccounts>,
): Promise<ConfigChange[]> {
  return db.transaction().execute(async (tx) => {
    const stored = await lockRelayers(tx)
    const ofSigners = await applySigners(tx, signers)
    const ofNotifications = await applyNotifications(tx, notifications)
    const ofRelayers = await applyRelayers(tx, { relayers, accounts, stored })
    // Last, when no relayer of the file refers to them any more.
    const removed = [
      ...(await removeNotifications(tx, ofNotifications.gone)),
      ...(await removeSigners(tx, ofSigners.gone)),
    ]
    return [...ofSigners.changes, ...ofNotifications.changes, ...ofRelayers, ...removed]
  })
}
