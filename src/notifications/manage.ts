import { randomUUID } from 'node:crypto'
import type { Actor } from '../access/principal.ts'
import { appendManagement } from '../audit/append-store.ts'
import { changedFields } from '../audit/entry.ts'
import type { Db, Tx } from '../database/db.ts'
import { isUniqueViolation } from '../database/errors.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import { restartWindow } from './delivery/redeliver-store.ts'
import type { SigningKeys } from './keys.ts'
import {
  type AlertKind,
  maskWebhookUrl,
  type NamedTransactions,
  type Notification,
  type NotificationType,
} from './notification.ts'
import {
  DEFAULT_URLS,
  hasIntegrationKey,
  type ReachPolicy,
  unfitField,
  urlProblem,
} from './receivers/check.ts'
import {
  deleteNotification,
  findNotification,
  insertNotification,
  lockForDeletion,
  lockNotification,
  saveNotification,
} from './store.ts'

/** The description of a notification by a caller. */
interface NotificationRequest {
  /** If absent, a new UUID. */
  readonly id?: string | undefined
  /** Default: `webhook`. */
  readonly type?: NotificationType | undefined
  /** If absent, that of the service, for a type that has one. */
  readonly url?: string | undefined
  /** At least 32 characters. */
  readonly signingKey?: string | undefined
  readonly integrationKey?: string | undefined
  readonly alerts?: readonly AlertKind[] | undefined
  readonly transactions?: NamedTransactions | undefined
}

/**
 * The changes of a caller. Absent fields are unchanged. `null` removes a signing key or the named
 * transactions, or selects all alerts.
 */
interface NotificationPatch {
  readonly type?: NotificationType | undefined
  readonly url?: string | undefined
  readonly signingKey?: string | null | undefined
  readonly integrationKey?: string | undefined
  readonly alerts?: readonly AlertKind[] | null | undefined
  readonly transactions?: NamedTransactions | null | undefined
}

/** Manages notifications for callers. The audit log records each change. */
export interface NotificationManager {
  /**
   * @throws AppError `invalid_request` for a forbidden url, a field that is missing, or one that its type
   * does not have, `not_supported` for a key that cannot be stored, `already_exists`
   */
  create(request: NotificationRequest, actor: Actor): Promise<Notification>
  /** @throws AppError `notification_not_found` */
  get(id: string): Promise<Notification>
  /** @throws AppError `notification_not_found`, or as `create` */
  update(id: string, patch: NotificationPatch, actor: Actor): Promise<Notification>
  /**
   * Deletes a notification with its keys and deliveries.
   * @throws AppError `notification_not_found`, or `in_use` when a relayer uses it
   */
  delete(id: string, actor: Actor): Promise<void>
}

interface NotificationManagerDeps {
  readonly db: Db
  readonly keys: SigningKeys
  /** The addresses that urls of callers may lead to. */
  readonly policy: ReachPolicy
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
  /** Finds the ids of the relayers that use a notification. */
  readonly usersOf: (tx: Tx, id: string) => Promise<readonly string[]>
}

/** Creates the manager of notifications. */
export function createNotificationManager(deps: NotificationManagerDeps): NotificationManager {
  const { db, keys, policy } = deps
  return {
    create: (request, actor) => {
      const { id = randomUUID(), alerts, transactions } = request
      const { type, url, key } = checkRequest(request, policy)
      return transact(db, async (tx) => {
        const named = { id, type, url, ...(alerts && { alerts }), ...(transactions && { transactions }) }
        if (!(await whereFree(transactions, () => insertNotification(tx, named)))) throw idInUse(id)
        if (key !== undefined) await keys.replace(tx, id, key)
        const created = requireNotification(await findNotification(tx, id), id)
        const after = auditedNotification(created)
        await appendManagement(tx, {
          author: actor,
          action: 'createNotification',
          target: targetOf(id),
          after,
        })
        return created
      })
    },
    get: async (id) => requireNotification(await findNotification(db, id), id),
    update: (id, patch, actor) => transact(db, (tx) => change(deps, tx, { id, patch, actor })),
    delete: async (id, actor) => {
      await transact(db, (tx) => remove(deps, tx, { id, actor }))
    },
  }
}

interface Change {
  readonly id: string
  readonly patch: NotificationPatch
  readonly actor: Actor
}

async function change(
  { keys, windowMs, policy }: NotificationManagerDeps,
  tx: Tx,
  { id, patch, actor }: Change,
): Promise<Notification> {
  const before = requireNotification(await lockNotification(tx, id), id)
  checkPatch(before, patch, policy)
  const { url = before.url, alerts = before.alerts ?? null, signingKey, integrationKey } = patch
  // A caller that sends the stored url has not chosen it, so a trusted url stays trusted.
  const isMoved = url !== before.url
  const { transactions = before.transactions ?? null } = patch
  const { alerts: _alerts, transactions: _transactions, ...kept } = before
  const next = {
    ...kept,
    url,
    ...(alerts && { alerts }),
    ...(transactions !== null && { transactions }),
    ...(isMoved && { urlUntrusted: true as const }),
  }
  if (isMoved || patch.alerts !== undefined || patch.transactions !== undefined)
    await whereFree(transactions, () => saveNotification(tx, next))
  // The new url ends the pause, so the waiting deliveries get their whole retry time again.
  if (isMoved && before.paused === 'gone') await restartWindow(tx, id, windowMs)
  const key = signingKey === undefined ? integrationKey : signingKey
  if (key !== undefined) await keys.replace(tx, id, key)
  const after = requireNotification(await findNotification(tx, id), id)
  const changes = notificationChanges(before, after, key !== undefined)
  const target = targetOf(id)
  await appendManagement(tx, { author: actor, action: 'updateNotification', target, ...changes })
  return after
}

async function remove(
  { usersOf }: NotificationManagerDeps,
  tx: Tx,
  { id, actor }: Pick<Change, 'id' | 'actor'>,
): Promise<void> {
  const notification = requireNotification(await lockForDeletion(tx, id), id)
  const users = await usersOf(tx, id)
  if (users.length > 0) {
    const names = users.map((user) => `"${user}"`).join(', ')
    throw new AppError('in_use', `Notification ${id} is used by ${names}; change what uses it first.`)
  }
  await deleteNotification(tx, id)
  const before = auditedNotification(notification)
  await appendManagement(tx, { author: actor, action: 'deleteNotification', target: targetOf(id), before })
}

function targetOf(id: string) {
  return { type: 'notification', id } as const
}

interface Checked {
  readonly type: NotificationType
  readonly url: string
  /** A signing key, or an integration key. */
  readonly key: string | undefined
}

/** @throws AppError `invalid_request` */
function checkRequest(request: NotificationRequest, policy: ReachPolicy): Checked {
  const { type = 'webhook', url = DEFAULT_URLS[type], signingKey, integrationKey } = request
  const unfit = unfitField({ ...request, type })
  if (unfit !== undefined) throw invalidField(unfit.field, `expected ${unfit.expected}`)
  if (url === undefined)
    throw invalidField(
      'url',
      `expected the destination, because a notification of type ${type} has no default`,
    )
  if (hasIntegrationKey(type) && integrationKey === undefined)
    throw invalidField('integration_key', `expected the key that ${type} shows for its integration`)
  const problem = urlProblem(type, url, policy)
  if (problem !== undefined) throw invalidField('url', problem)
  return { type, url, key: signingKey ?? integrationKey }
}

/** @throws AppError `invalid_request` */
function checkPatch({ type, url }: Notification, patch: NotificationPatch, policy: ReachPolicy): void {
  if (patch.type !== undefined && patch.type !== type)
    throw invalidField('type', `expected ${type}, or no field: the type of a notification stays`)
  const unfit = unfitField({ ...patch, type })
  if (unfit !== undefined) throw invalidField(unfit.field, `expected ${unfit.expected}`)
  if (patch.url === undefined) return
  const problem = urlProblem(type, patch.url, policy)
  if (problem !== undefined) throw invalidField('url', problem)
  // Otherwise a caller could have the stored key sent to a host of their own.
  if (hasIntegrationKey(type) && patch.url !== url && patch.integrationKey === undefined)
    throw invalidField(
      'integration_key',
      'expected the key for the new url, which the stored one is not sent to',
    )
}

function invalidField(field: string, sentence: string): AppError {
  return new AppError('invalid_request', `body.${field}: ${sentence}.`)
}

function requireNotification(notification: Notification | undefined, id: string): Notification {
  if (notification === undefined)
    throw new AppError('notification_not_found', `There is no notification ${id}.`)
  return notification
}

/** @throws AppError `already_exists` if another notification is for these transactions */
async function whereFree<Result>(
  transactions: NamedTransactions | null | undefined,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error, 'notifications_of_transactions')) throw error
    const message = `body.transactions: another notification is for the reference ${transactions?.reference} of ${transactions?.requestedBy} already.`
    throw new AppError('already_exists', message)
  }
}

function idInUse(id: string) {
  return new AppError(
    'already_exists',
    `There is a notification with the id ${id} already, or an entry of the configuration file has it.`,
  )
}

/**
 * Gives the form of a notification in the audit log. Its URL is cut to scheme and host, because stored URLs
 * are encrypted.
 */
function auditedNotification({
  id,
  type,
  url,
  hasSigningKey,
  alerts,
  transactions,
  paused,
}: Notification): object {
  return {
    id,
    type,
    url: maskWebhookUrl({ url }),
    has_signing_key: hasSigningKey,
    ...(alerts && { alerts }),
    ...(transactions && {
      transactions: { reference: transactions.reference, requested_by: transactions.requestedBy },
    }),
    ...(paused !== undefined && { paused: true, paused_reason: paused }),
  }
}

/**
 * Gives the fields that a change of a notification changed, for the audit log. `isNewKey`: it has another
 * signing key, or none.
 */
function notificationChanges(before: Notification, after: Notification, isNewKey: boolean) {
  return changedFields({
    before: { notification: before, key: 'before' },
    after: { notification: after, key: isNewKey ? 'after' : 'before' },
    show: ({ notification }) => auditedNotification(notification),
    compared: ({ notification, key }) => ({
      ...auditedNotification(notification),
      url: notification.url,
      has_signing_key: key,
    }),
  })
}
