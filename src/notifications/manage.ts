import { randomUUID } from 'node:crypto'
import type { Actor } from '../access/principal.ts'
import { appendManagement } from '../audit/append-store.ts'
import { changedFields } from '../audit/entry.ts'
import type { Db, Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import { type AddressPolicy, untrustedUrlProblem } from '../security/guarded-http-client.ts'
import { restartWindow } from './delivery/redeliver-store.ts'
import type { SigningKeys } from './keys.ts'
import { isMaskedWebhookUrl, maskWebhookUrl, type Notification } from './notification.ts'
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
  readonly url: string
  /** At least 32 characters. */
  readonly signingKey?: string | undefined
}

/** The changes of a caller. Absent fields are unchanged. `signingKey`: `null` removes it. */
interface NotificationPatch {
  readonly url?: string | undefined
  readonly signingKey?: string | null | undefined
}

/** Manages notifications for callers. The audit log records each change. */
export interface NotificationManager {
  /**
   * @throws AppError `invalid_request` for a forbidden url, `not_supported` for a key that cannot be stored,
   * `already_exists`
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
  readonly policy: AddressPolicy
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
  /** Finds the ids of the relayers that use a notification. */
  readonly usersOf: (tx: Tx, id: string) => Promise<readonly string[]>
}

/** Creates the manager of notifications. */
export function createNotificationManager(deps: NotificationManagerDeps): NotificationManager {
  const { db, keys, policy } = deps
  return {
    create: ({ id = randomUUID(), url, signingKey = null }, actor) => {
      assertReachable(url, policy)
      return transact(db, async (tx) => {
        if (!(await insertNotification(tx, { id, type: 'webhook', url }))) throw idInUse(id)
        if (signingKey !== null) await keys.replace(tx, id, signingKey)
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
    update: (id, patch, actor) => {
      if (patch.url !== undefined) assertReachable(patch.url, policy)
      return transact(db, (tx) => change(deps, tx, { id, patch, actor }))
    },
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
  { keys, windowMs }: NotificationManagerDeps,
  tx: Tx,
  { id, patch: { url, signingKey }, actor }: Change,
): Promise<Notification> {
  const before = requireNotification(await lockNotification(tx, id), id)
  // A caller that sends the stored url has not chosen it, so a trusted url stays trusted.
  if (url !== undefined && url !== before.url) {
    await saveNotification(tx, { ...before, url, urlUntrusted: true })
    // The new url ends the pause, so the waiting deliveries get their whole retry time again.
    if (before.paused === 'gone') await restartWindow(tx, id, windowMs)
  }
  if (signingKey !== undefined) await keys.replace(tx, id, signingKey)
  const after = requireNotification(await findNotification(tx, id), id)
  const changes = notificationChanges(before, after, signingKey !== undefined)
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

function assertReachable(url: string, policy: AddressPolicy): void {
  const problem = isMaskedWebhookUrl(url)
    ? 'expected the full URL, not a masked one from a response; or omit the field'
    : untrustedUrlProblem(url, policy)
  if (problem !== undefined) throw new AppError('invalid_request', `body.url: ${problem}.`)
}

function requireNotification(notification: Notification | undefined, id: string): Notification {
  if (notification === undefined)
    throw new AppError('notification_not_found', `There is no notification ${id}.`)
  return notification
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
function auditedNotification({ id, type, url, hasSigningKey, paused }: Notification): object {
  return {
    id,
    type,
    url: maskWebhookUrl({ url }),
    has_signing_key: hasSigningKey,
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
