import type { Actor } from '../../access/principal.ts'
import { appendManagement } from '../../audit/append-store.ts'
import type { AuditAction } from '../../audit/entry.ts'
import type { Db, Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { recordTestEvent } from '../../events/store.ts'
import type { Notification } from '../notification.ts'
import { lockNotification, setPaused } from '../store.ts'
import { countSelected, redeliver, restartWindow, type Selection } from './redeliver-store.ts'

/** The maximum number of deliveries that one call delivers again. */
const MAX_REDELIVERED = 1_000

/**
 * Controls of deliveries for callers, each of which the audit log records. Every id must belong to an
 * existing notification.
 */
export interface DeliveryControls {
  /** Delivers again at most 1000 deliveries, oldest first, and counts the remaining ones. */
  redeliver(
    notificationId: string,
    selection: Selection,
    actor: Actor,
  ): Promise<{ readonly redelivered: number; readonly remaining: number }>
  /** Sends a test event and returns its `uid`. */
  test(notificationId: string, actor: Actor): Promise<string>
  pause(notificationId: string, actor: Actor): Promise<void>
  /** Ends a pause, and restarts the retry time of the waiting deliveries. */
  resume(notificationId: string, actor: Actor): Promise<void>
}

interface DeliveryControlsDeps {
  readonly db: Db
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
}

/** Creates the controls of deliveries. */
export function createDeliveryControls({ db, windowMs }: DeliveryControlsDeps): DeliveryControls {
  return {
    async redeliver(notificationId, selection, actor) {
      const before = await countSelected(db, notificationId, selection)
      const redelivered = await transact(db, async (tx) => {
        const wanted = { notificationId, selection, limit: MAX_REDELIVERED, windowMs }
        const count = await redeliver(tx, wanted)
        const { kind, ...range } = selection
        const action = kind === 'one' ? 'redeliverDelivery' : 'redeliverDeliveries'
        await record(tx, { id: notificationId, actor, action, after: { ...range, redelivered: count } })
        return count
      })
      return { redelivered, remaining: Math.max(0, before - redelivered) }
    },
    test: (id, actor) =>
      transact(db, async (tx) => {
        const eventId = await recordTestEvent(tx, id)
        await record(tx, { id, actor, action: 'sendTestEvent', after: { event_id: eventId } })
        return eventId
      }),
    pause: (id, actor) =>
      transact(db, async (tx) => {
        const before = pauseOf(await lockNotification(tx, id))
        await setPaused(tx, id, 'operator')
        const after = { paused: true, paused_reason: 'operator' }
        await record(tx, { id, actor, action: 'pauseNotification', before, after })
      }),
    resume: (id, actor) =>
      transact(db, async (tx) => {
        const notification = await lockNotification(tx, id)
        if (notification?.paused === undefined) return
        await setPaused(tx, id, null)
        await restartWindow(tx, id, windowMs)
        const before = pauseOf(notification)
        await record(tx, { id, actor, action: 'resumeNotification', before, after: { paused: false } })
      }),
  }
}

interface Control {
  /** The id of the notification. */
  readonly id: string
  readonly actor: Actor
  readonly action: AuditAction
  readonly before?: object
  readonly after: object
}

function record(tx: Tx, { id, actor: author, ...change }: Control): Promise<void> {
  return appendManagement(tx, { author, target: { type: 'notification', id }, ...change })
}

function pauseOf(notification: Notification | undefined): object {
  const reason = notification?.paused
  return reason === undefined ? { paused: false } : { paused: true, paused_reason: reason }
}
