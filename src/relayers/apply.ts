import type { Kysely, Transaction } from 'kysely'
import type { Config, RelayerConfig } from '../config.ts'
import { ConfigError } from '../configuration/problems.ts'
import type { Schema } from '../database/schema.ts'
import type { Notification } from '../notifications/notification.ts'
import { deleteNotification, lockNotifications, saveNotification } from '../notifications/store.ts'
import { type ConfigChange, fieldChanges } from './changes.ts'
import type { Relayer } from './relayer.ts'
import {
  type ConfiguredRelayer,
  countUnfinished,
  forgetNonce,
  lockRelayers,
  removeRelayer,
  saveRelayer,
} from './store.ts'

type Applied = Pick<Config, 'relayers' | 'notifications'>

/**
 * Makes the stored relayers and notifications those of the configuration, in one database transaction, and tells what
 * changed. `addresses` gives the address of each relayer id. A relayer that is no longer named is taken off the
 * list and keeps its history; named again, it comes back.
 * @throws ConfigError when that would strand transactions; then nothing is changed
 */
export function applyConfig(
  db: Kysely<Schema>,
  config: Applied,
  addresses: ReadonlyMap<string, string>,
): Promise<ConfigChange[]> {
  return db.transaction().execute(async (tx) => {
    const stored = await lockRelayers(tx)
    const wanted = config.relayers.map((relayer) => configured(relayer, addresses))
    const gone = [...stored.values()]
      .filter(({ relayer, removed }) => !removed && !wanted.some(({ id }) => id === relayer.id))
      .map(({ relayer }) => relayer)
    await refuseStranding(tx, { stored, wanted, gone })

    const notifications = await lockNotifications(tx)
    const changes = await saveNotifications(tx, notifications, config)
    for (const relayer of wanted) changes.push(...(await applyRelayer(tx, relayer, stored.get(relayer.id))))
    for (const { id } of gone) {
      await removeRelayer(tx, id)
      changes.push({ kind: 'removed', what: 'relayer', id, fields: [] })
    }
    // Last, when no relayer refers to them any more.
    for (const id of notifications.keys()) {
      if (config.notifications.some((notification) => notification.id === id)) continue
      await deleteNotification(tx, id)
      changes.push({ kind: 'removed', what: 'notification', id, fields: [] })
    }
    return changes
  })
}

interface Comparison {
  readonly stored: ReadonlyMap<string, { relayer: Relayer; removed: boolean }>
  readonly wanted: readonly ConfiguredRelayer[]
  readonly gone: readonly Relayer[]
}

async function refuseStranding(tx: Transaction<Schema>, { stored, wanted, gone }: Comparison): Promise<void> {
  const problems: string[] = []
  for (const { id } of gone) {
    const unfinished = await countUnfinished(tx, id)
    if (unfinished > 0) problems.push(`relayer "${id}" cannot be removed: ${remedy(unfinished)}`)
  }
  for (const next of wanted) {
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
  return `${count} unfinished; put it back as it was with "paused": true, wait until they are final or cancel them, then try again`
}

async function applyRelayer(
  tx: Transaction<Schema>,
  next: ConfiguredRelayer,
  before: { relayer: Relayer; removed: boolean } | undefined,
): Promise<ConfigChange[]> {
  if (!before) {
    await saveRelayer(tx, next)
    return [{ kind: 'created', what: 'relayer', id: next.id, fields: [] }]
  }
  const { systemDisabled, disabledReason, ...decided } = before.relayer
  const fields = fieldChanges(decided, next)
  if (fields.length === 0 && !before.removed) return []
  await saveRelayer(tx, next)
  if (isMoved(before.relayer, next)) await forgetNonce(tx, next.id)
  return [{ kind: before.removed ? 'restored' : 'updated', what: 'relayer', id: next.id, fields }]
}

async function saveNotifications(
  tx: Transaction<Schema>,
  stored: ReadonlyMap<string, Notification>,
  config: Applied,
): Promise<ConfigChange[]> {
  const changes: ConfigChange[] = []
  for (const { signingKey, ...rest } of config.notifications) {
    const next: Notification = { ...rest, hasSigningKey: signingKey !== undefined }
    const before = stored.get(next.id)
    const fields = before ? fieldChanges(before, next) : []
    if (before && fields.length === 0) continue
    await saveNotification(tx, next)
    changes.push({ kind: before ? 'updated' : 'created', what: 'notification', id: next.id, fields })
  }
  return changes
}

function isMoved(before: Relayer, next: ConfiguredRelayer): boolean {
  return before.address !== next.address || before.network !== next.network
}

function configured(relayer: RelayerConfig, addresses: ReadonlyMap<string, string>): ConfiguredRelayer {
  const address = addresses.get(relayer.id)
  if (address === undefined) throw new Error(`No address was given for relayer "${relayer.id}".`)
  return { ...relayer, address }
}
