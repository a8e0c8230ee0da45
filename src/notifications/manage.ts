import { randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { AddressPolicy } from '../security/guarded-lookup.ts'
import { untrustedUrlProblem } from '../security/untrusted-url.ts'
import { pendingIds } from './delivery/delivery-store.ts'
import type { JobQueue } from './delivery/job-queue.ts'
import { restartWindow } from './delivery/redeliver-store.ts'
import type { SigningKeys } from './keys.ts'
import type { Notification } from './notification.ts'
import {
  deleteNotification,
  findNotification,
  insertNotification,
  lockNotification,
  saveNotification,
} from './store.ts'

/** A notification as a caller describes it. */
export interface NotificationRequest {
  /** A new UUID when absent. */
  readonly id?: string | undefined
  readonly url: string
  /** At least 32 characters. */
  readonly signingKey?: string | undefined
}

/** What a caller changes; what is absent stays. `signingKey`: null for none. */
export interface NotificationPatch {
  readonly url?: string | undefined
  readonly signingKey?: string | null | undefined
}

/** What callers can do about notifications. */
export interface NotificationManager {
  /** @throws AppError 400 for a url that may not be reached, or a signing key that cannot be kept; 409 when the id is taken */
  create(request: NotificationRequest): Promise<Notification>
  /** @throws AppError 404 */
  get(id: string): Promise<Notification>
  /** @throws AppError 404; 400 as `create` */
  update(id: string, patch: NotificationPatch): Promise<Notification>
  /**
   * With its keys and deliveries.
   * @throws AppError 404; 400 when relayers tell it of their events
   */
  delete(id: string): Promise<void>
}

interface NotificationManagerDeps {
  readonly db: Kysely<Schema>
  readonly keys: SigningKeys
  readonly queue: JobQueue
  /** Where urls of callers may lead. */
  readonly policy: AddressPolicy
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
  /** The relayers whose events it gets, by id. */
  readonly usersOf: (tx: Transaction<Schema>, id: string) => Promise<readonly string[]>
}

export function createNotificationManager(deps: NotificationManagerDeps): NotificationManager {
  const { db, keys, policy } = deps
  return {
    create: ({ id = randomUUID(), url, signingKey = null }) => {
      assertReachable(url, policy)
      return db.transaction().execute(async (tx) => {
        if (!(await insertNotification(tx, { id, type: 'webhook', url }))) throw idInUse(id)
        if (signingKey !== null) await keys.replace(tx, id, signingKey)
        return requireNotification(await findNotification(tx, id), id)
      })
    },
    get: async (id) => requireNotification(await findNotification(db, id), id),
    update: (id, patch) => {
      if (patch.url !== undefined) assertReachable(patch.url, policy)
      return db.transaction().execute((tx) => change(deps, tx, { id, patch }))
    },
    delete: async (id) => {
      requireNotification(await findNotification(db, id), id)
      // Before the transaction: it is pg-boss's own work, with statements of its own.
      await deps.queue.open(id)
      await db.transaction().execute((tx) => remove(deps, tx, id))
    },
  }
}

interface Change {
  readonly id: string
  readonly patch: NotificationPatch
}

async function change(
  { keys, windowMs }: NotificationManagerDeps,
  tx: Transaction<Schema>,
  { id, patch: { url, signingKey } }: Change,
): Promise<Notification> {
  const before = requireNotification(await lockNotification(tx, id), id)
  // Who names the url that is there has chosen nothing: the operator's stays the operator's.
  if (url !== undefined && url !== before.url) {
    await saveNotification(tx, { ...before, url, urlUntrusted: true })
    // It goes on with another receiver; what waited has its whole time again.
    if (before.paused === 'gone') await restartWindow(tx, id, windowMs)
  }
  if (signingKey !== undefined) await keys.replace(tx, id, signingKey)
  return requireNotification(await findNotification(tx, id), id)
}

async function remove(
  { queue, usersOf }: NotificationManagerDeps,
  tx: Transaction<Schema>,
  id: string,
): Promise<void> {
  requireNotification(await lockNotification(tx, id), id)
  const users = await usersOf(tx, id)
  if (users.length > 0) {
    const names = users.map((user) => `"${user}"`).join(', ')
    throw new AppError('in_use', `Notification ${id} is used by ${names}; change what uses it first.`)
  }
  // A later notification of this id must not find them.
  await queue.remove(tx, id, await pendingIds(tx, id))
  await deleteNotification(tx, id)
}

function assertReachable(url: string, policy: AddressPolicy): void {
  const problem = untrustedUrlProblem(url, policy)
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
