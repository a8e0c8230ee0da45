import { appendManagement } from '../../audit/append-store.ts'
import type { Db } from '../../database/schema.ts'
import type { RelayerAccounts } from '../../relayers/accounts.ts'
import { lockRelayers } from '../../relayers/store.ts'
import type { Config } from '../load.ts'
import { auditedChange } from './audited-change.ts'
import type { ConfigChange } from './changes.ts'
import { applyNotifications, removeNotifications } from './notifications.ts'
import { applyRelayers } from './relayers.ts'
import { applySigners, type ConfiguredSigners, removeSigners } from './signers.ts'

interface Applied extends Pick<Config, 'relayers' | 'notifications' | 'signers'> {
  /** The public keys of the signers whose key another service holds, by signer id. Default: there are none. */
  readonly publicKeys?: ConfiguredSigners['publicKeys']
}

/**
 * Applies every entry of the configuration file that has changed since it was last applied, in one database transaction, and returns
 * the changes, which the audit log records. An unchanged entry has no effect: changes that callers of the API made to its record stay, a deletion included. A
 * relayer that the file no longer names leaves the list and keeps its history; it returns when the file names it again. Records that
 * callers created stay as they are. `accounts` holds the accounts of each relayer of the configuration.
 * @throws ConfigError when a change would strand transactions or references, or give two relayers the same account; the database
 * then stays as it was
 */
export function applyConfig(
  db: Db,
  { relayers, notifications, signers, publicKeys = new Map() }: Applied,
  accounts: ReadonlyMap<string, RelayerAccounts>,
): Promise<ConfigChange[]> {
  return db.transaction().execute(async (tx) => {
    const stored = await lockRelayers(tx)
    const ofSigners = await applySigners(tx, { signers, publicKeys })
    const ofNotifications = await applyNotifications(tx, notifications)
    const ofRelayers = await applyRelayers(tx, { relayers, accounts, stored })
    // The relayers come first, so that none of the file's still refers to a removed record.
    const removed = [
      ...(await removeNotifications(tx, ofNotifications.gone)),
      ...(await removeSigners(tx, ofSigners.gone)),
    ]
    const changes = [...ofSigners.changes, ...ofNotifications.changes, ...ofRelayers, ...removed]
    await appendManagement(tx, ...changes.map(auditedChange))
    return changes
  })
}
