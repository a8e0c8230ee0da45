import { isDeepStrictEqual } from 'node:util'
import { appendManagement } from '../audit/append-store.ts'
import { type AuditedChange, CONFIGURATION } from '../audit/entry.ts'
import type { Db, Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { ConfigError } from '../lib/fields.ts'
import type { Notification, NotificationConfig } from '../notifications/notification.ts'
import {
  clearTransactions,
  deleteNotification,
  lockNotifications,
  saveNotification,
} from '../notifications/store.ts'
import { forgetHooks, prepareHooks } from '../plugins/hooks/hooks-store.ts'
import { keyIdOf, type PluginConfig } from '../plugins/plugin.ts'
import { forgetSettings, removePluginKeys, savePluginKey } from '../plugins/settings-store.ts'
import type { RelayerAccounts } from '../relayers/accounts/accounts.ts'
import {
  AccountInUseError,
  claimsOf,
  releaseAccounts,
  reserveAccounts,
} from '../relayers/accounts/claims-store.ts'
import { findAccountIds, saveFurtherAccounts } from '../relayers/accounts/pool-store.ts'
import { channelsOf, type Relayer, type RelayerConfig } from '../relayers/relayer.ts'
import type { ConfiguredRelayer } from '../relayers/relayer-codec.ts'
import {
  allRelayers,
  countUnfinished,
  forgetNonce,
  lockRelayers,
  relayersSigningWith,
  relayersTelling,
  removeRelayer,
  type StoredRelayer,
  saveRelayer,
} from '../relayers/store.ts'
import { topUpProblems } from '../relayers/top-up.ts'
import { describeSigner, type SignerConfig } from '../signers/providers/registry.ts'
import { encodePublicKeys, type PublicKeys } from '../signers/remote/remote-key.ts'
import { deleteSigners, listStored, saveConfiguredSigner } from '../signers/store.ts'
import {
  type Comparison,
  type ConfigChange,
  compareEntries,
  type FieldChange,
  fieldChanges,
  refuseUsed,
} from './changes.ts'
import { readEntries, writeEntries } from './entries-store.ts'
import type { Config } from './types.ts'

interface Applied extends Pick<Config, 'relayers' | 'notifications' | 'signers'> {
  /** Default: there are none. */
  readonly plugins?: Config['plugins']
  /**
   * The public keys of the signers whose key another service holds, by signer id. Default: there are none.
   */
  readonly publicKeys?: ConfiguredSigners['publicKeys']
}

/**
 * Applies every entry of the configuration file that has changed since it was last applied, in one database
 * transaction, and returns the changes, which the audit log records. An unchanged entry has no effect:
 * changes to its record over the API stay, including a deletion. A relayer that the file no longer names
 * leaves the list and keeps its history; it returns when the file names it again. Records created by callers
 * do not change. `accounts` has the accounts of each relayer of the configuration.
 * @throws ConfigError if a change would strand transactions or references, or give two relayers the same
 * account; the database then stays as it was
 */
export function applyConfig(
  db: Db,
  { relayers, notifications, signers, plugins = [], publicKeys = new Map() }: Applied,
  accounts: ReadonlyMap<string, RelayerAccounts>,
): Promise<ConfigChange[]> {
  return transact(db, async (tx) => {
    const stored = await lockRelayers(tx)
    const ofSigners = await applySigners(tx, { signers, publicKeys })
    const ofNotifications = await applyNotifications(tx, notifications)
    const ofRelayers = await applyRelayers(tx, { relayers, accounts, stored })
    const ofPlugins = await applyPlugins(tx, plugins)
    // The relayers come first, so that none of the file's still refers to a removed record.
    const removed = [
      ...(await removeNotifications(tx, ofNotifications.gone)),
      ...(await removeSigners(tx, ofSigners.gone)),
    ]
    const changes = [
      ...ofSigners.changes,
      ...ofNotifications.changes,
      ...ofRelayers,
      ...ofPlugins,
      ...removed,
    ]
    await appendManagement(tx, ...changes.map(auditedChange))
    return changes
  })
}

interface Wanted {
  readonly relayers: readonly RelayerConfig[]
  /** The accounts of each relayer, by id. */
  readonly accounts: ReadonlyMap<string, RelayerAccounts>
  readonly stored: ReadonlyMap<string, StoredRelayer>
}

/**
 * Saves the relayers whose entries changed, and removes those that the file no longer has.
 * @throws ConfigError if that would strand transactions, or give two relayers the same account
 */
async function applyRelayers(tx: Tx, { relayers, accounts, stored }: Wanted): Promise<ConfigChange[]> {
  const wanted = relayers.map((relayer) => ({
    ...relayer,
    address: requireAccounts(accounts, relayer.id).addresses[0],
  }))
  const comparison = compareEntries(wanted, await readEntries(tx, 'relayer'))
  const { changed, unchanged, entries } = comparison
  const gone = comparison.gone.filter((id) => stored.get(id)?.removed === false)
  await refuseStranding(tx, { ...comparison, gone }, stored)

  const kept = unchanged.filter((next) => isStillIt(next, stored.get(next.id)))
  const claiming = [...changed, ...kept]
  for (const id of gone) await releaseAccounts(tx, await findAccountIds(tx, id))
  const changes: ConfigChange[] = []
  for (const relayer of changed) {
    changes.push(...(await applyRelayer(tx, relayer, stored.get(relayer.id))))
    await saveFurtherAccounts(tx, relayer, requireAccounts(accounts, relayer.id).further ?? [])
  }
  for (const id of gone) {
    await removeRelayer(tx, id)
    changes.push({ kind: 'removed', what: 'relayer', id, fields: [] })
  }
  await reserveAll(tx, claiming, accounts)
  await writeEntries(tx, 'relayer', entries)
  // Callers may have changed or created relayers that the file does not know, so all of them are checked.
  const problems = topUpProblems(await allRelayers(tx))
  if (problems.length > 0) throw new ConfigError(problems)
  return changes
}

/** Returns false when a caller has deleted the file's relayer, or has created another one with its id. */
function isStillIt(next: ConfiguredRelayer, before: StoredRelayer | undefined): boolean {
  if (before === undefined || before.removed || isMoved(before.relayer, next)) return false
  const isSame = isDeepStrictEqual(before.relayer.accounts, next.accounts)
  return isSame && isDeepStrictEqual(channelsOf(before.relayer), channelsOf(next))
}

async function reserveAll(
  tx: Tx,
  relayers: readonly ConfiguredRelayer[],
  accounts: ReadonlyMap<string, RelayerAccounts>,
): Promise<void> {
  const claims = relayers.flatMap(({ id }) => claimsOf(id, requireAccounts(accounts, id)))
  try {
    await reserveAccounts(tx, claims)
  } catch (error) {
    if (error instanceof AccountInUseError)
      throw new ConfigError([`relayer "${error.relayerId}": ${error.message}`])
    throw error
  }
}

async function refuseStranding(
  tx: Tx,
  { changed, gone }: Pick<Comparison<ConfiguredRelayer>, 'changed' | 'gone'>,
  stored: ReadonlyMap<string, StoredRelayer>,
): Promise<void> {
  const problems: string[] = []
  for (const id of gone) {
    const unfinished = await countUnfinished(tx, id)
    if (unfinished > 0) problems.push(`relayer "${id}" cannot be removed: ${remedy(unfinished)}`)
  }
  for (const next of changed) {
    const before = stored.get(next.id)?.relayer
    if (!before || !isMoved(before, next)) continue
    const unfinished = await countUnfinished(tx, next.id)
    if (unfinished === 0) continue
    const way = `from ${before.address} on "${before.network}" to ${next.address} on "${next.network}"`
    problems.push(`relayer "${next.id}" cannot move ${way}: ${remedy(unfinished)}`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
}

function remedy(unfinished: number): string {
  const count = unfinished === 1 ? '1 transaction is' : `${unfinished} transactions are`
  return `${count} unfinished; restore the entry with "paused": true, wait until they are final or cancel them, then try again`
}

async function applyRelayer(
  tx: Tx,
  next: ConfiguredRelayer,
  before: StoredRelayer | undefined,
): Promise<ConfigChange[]> {
  // Its further accounts leave, and their transactions stay those of the relayer.
  const hadAccounts = before?.relayer.accounts !== undefined && next.accounts === undefined
  await saveRelayer(tx, hadAccounts ? { ...next, accounts: [{ signerId: next.signerId, count: 1 }] } : next)
  if (!before) return [{ kind: 'created', what: 'relayer', id: next.id, fields: [] }]
  const { systemDisabled, disabledReason, ...decided } = before.relayer
  const fields = fieldChanges(decided, next)
  if (isMoved(before.relayer, next)) await forgetNonce(tx, next.id)
  if (fields.length === 0 && !before.removed) return []
  return [{ kind: before.removed ? 'restored' : 'updated', what: 'relayer', id: next.id, fields }]
}

function isMoved(before: Relayer, next: ConfiguredRelayer): boolean {
  return before.address !== next.address || before.network !== next.network
}

function requireAccounts(accounts: ReadonlyMap<string, RelayerAccounts>, id: string): RelayerAccounts {
  const found = accounts.get(id)
  if (found === undefined) throw new Error(`The accounts of relayer "${id}" are missing.`)
  return found
}

/** The signers of the file, and the public keys of those whose key another service holds, by id. */
interface ConfiguredSigners {
  readonly signers: readonly SignerConfig[]
  readonly publicKeys: ReadonlyMap<string, PublicKeys>
}

/**
 * Stores the file's signers beside those that callers created, and returns those that the file no longer has.
 * The secrets stay in the file.
 * @throws ConfigError if a caller has created a signer of the same name
 */
async function applySigners(
  tx: Tx,
  { signers: configured, publicKeys }: ConfiguredSigners,
): Promise<{ changes: ConfigChange[]; gone: readonly string[] }> {
  const stored = await listStored(tx)
  const duplicates = configured.filter(({ id }) => stored.get(id) === 'api')
  if (duplicates.length > 0) {
    throw new ConfigError(
      duplicates.map(
        ({ id }) =>
          `signer "${id}" was already created over the API; delete it there, or give this one another id`,
      ),
    )
  }
  const wanted = configured.map((config) => {
    const keys = publicKeys.get(config.id)
    return { ...describeSigner(config), ...(keys && { publicKeys: encodePublicKeys(keys) }) }
  })
  const { changed, gone, entries } = compareEntries(wanted, await readEntries(tx, 'signer'))
  for (const signer of changed) await saveConfiguredSigner(tx, signer)
  await writeEntries(tx, 'signer', entries)
  const created = changed.filter(({ id }) => !stored.has(id))
  return {
    changes: created.map(({ id }) => ({ kind: 'created', what: 'signer', id, fields: [] })),
    gone: gone.filter((id) => stored.get(id) === 'file'),
  }
}

/**
 * Deletes signers that the file no longer has. Call it after the file's relayers have stopped referring to
 * them.
 * @throws ConfigError if relayers that callers created still do
 */
async function removeSigners(tx: Tx, ids: readonly string[]): Promise<ConfigChange[]> {
  await refuseUsed(ids, { what: 'signer', usersOf: (id) => relayersSigningWith(tx, id) })
  await deleteSigners(tx, ids)
  return ids.map((id) => ({ kind: 'removed', what: 'signer', id, fields: [] }))
}

/** Saves the notifications whose entries changed, and returns those that the file no longer has. */
async function applyNotifications(
  tx: Tx,
  configured: readonly NotificationConfig[],
): Promise<{ changes: ConfigChange[]; gone: readonly string[] }> {
  const stored = await lockNotifications(tx)
  const wanted = configured.map(
    ({ signingKey, ...rest }): Notification => ({ ...rest, hasSigningKey: signingKey !== undefined }),
  )
  const { changed, gone, entries } = compareEntries(wanted, await readEntries(tx, 'notification'))
  const freed = [...changed.map(({ id }) => id), ...gone]
  refuseTaken(
    changed,
    [...stored.values()].filter(({ id }) => !freed.includes(id)),
  )
  // They may go from one notification to another.
  await clearTransactions(tx, freed)
  const changes: ConfigChange[] = []
  for (const next of changed) {
    const before = stored.get(next.id)
    const fields = before ? fieldChanges(before, next) : []
    await saveNotification(tx, next)
    if (before && fields.length === 0) continue
    changes.push({ kind: before ? 'updated' : 'created', what: 'notification', id: next.id, fields })
  }
  await writeEntries(tx, 'notification', entries)
  return { changes, gone: gone.filter((id) => stored.has(id)) }
}

/**
 * @throws ConfigError if a notification that a caller created or changed is for the transactions of one of
 * these
 */
function refuseTaken(
  wanted: readonly Pick<Notification, 'id' | 'transactions'>[],
  others: readonly Pick<Notification, 'id' | 'transactions'>[],
): void {
  const problems = wanted.flatMap(({ id, transactions }) => {
    const other = others.find(
      (one) => transactions !== undefined && isDeepStrictEqual(one.transactions, transactions),
    )
    return other === undefined
      ? []
      : [
          `notification "${id}" is for the reference "${transactions?.reference}" of "${transactions?.requestedBy}", as "${other.id}" is already`,
        ]
  })
  if (problems.length > 0) throw new ConfigError(problems)
}

/**
 * Deletes notifications that the file no longer has. Call it after the file's relayers have stopped referring
 * to them.
 * @throws ConfigError if relayers that callers created still do
 */
async function removeNotifications(tx: Tx, ids: readonly string[]): Promise<ConfigChange[]> {
  await refuseUsed(ids, { what: 'notification', usersOf: (id) => relayersTelling(tx, id) })
  for (const id of ids) await deleteNotification(tx, id)
  return ids.map((id) => ({ kind: 'removed', what: 'notification', id, fields: [] }))
}

/**
 * Stores the rights of the plugins. A changed entry also undoes what callers changed of its settings. Values
 * that a plugin stored stay, also when the file no longer has it.
 * @throws ConfigError if a caller has created an API key with the id of the key of a plugin
 */
async function applyPlugins(tx: Tx, plugins: readonly PluginConfig[]): Promise<ConfigChange[]> {
  const applied = await readEntries(tx, 'plugin')
  // The variables are secrets, and no part of what callers could change.
  const wanted = plugins.map(({ env: _env, file: _file, ...plugin }) => plugin)
  const { changed, gone, entries } = compareEntries(wanted, applied)
  if (changed.length === 0 && gone.length === 0) return []
  const taken: string[] = []
  for (const plugin of changed) if (!(await savePluginKey(tx, plugin))) taken.push(keyIdOf(plugin.id))
  if (taken.length > 0)
    throw new ConfigError(
      taken.map(
        (id) =>
          `API key "${id}" was created over the API; plugins need this id, so delete the key there, or rename the plugin`,
      ),
    )
  await removePluginKeys(tx, gone)
  for (const { id, hooks } of changed) await prepareHooks(tx, id, hooks)
  await forgetHooks(tx, gone)
  await forgetSettings(tx, [...changed.map(({ id }) => id), ...gone])
  await writeEntries(tx, 'plugin', entries)
  return [
    ...changed.map(({ id }): ConfigChange => {
      return { kind: applied.has(id) ? 'updated' : 'created', what: 'plugin', id, fields: [] }
    }),
    ...gone.map((id): ConfigChange => ({ kind: 'removed', what: 'plugin', id, fields: [] })),
  ]
}

/**
 * Describes a change by the configuration file for the audit log. Its fields are texts as the log of the
 * service has them, with masked urls. A record that appears has no `before`, and one that disappears no
 * `after`; the file has its fields.
 */
function auditedChange({ kind, what, id, fields }: ConfigChange): AuditedChange {
  return {
    author: CONFIGURATION,
    action: 'applyConfiguration',
    target: { type: what, id },
    ...((kind === 'updated' || kind === 'removed') && { before: valuesOf(fields, 'from') }),
    ...(kind !== 'removed' && { after: valuesOf(fields, 'to') }),
  }
}

function valuesOf(fields: readonly FieldChange[], side: 'from' | 'to'): object {
  return Object.fromEntries(fields.map((change) => [change.field, change[side]]))
}
