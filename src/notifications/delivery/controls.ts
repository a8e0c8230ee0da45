import type { Kysely } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import { recordTestEvent } from '../../events/store.ts'
import { findNotification, setPaused } from '../store.ts'
import { countSelected, redeliver, restartWindow, type Selection } from './redeliver-store.ts'

/** The maximum number of deliveries that one call delivers again. */
const MAX_REDELIVERED = 1_000

/** Controls of deliveries for callers. Every id must belong to an existing notification. */
export interface DeliveryControls {
  /** Delivers again at most 1000 deliveries, oldest first, and counts the remaining ones. */
  redeliver(
    notificationId: string,
    selection: Selection,
  ): Promise<{ readonly redelivered: number; readonly remaining: number }>
  /** Sends a test event and returns its `uid`. */
  test(notificationId: string): Promise<string>
  pause(notificationId: string): Promise<void>
  /** Ends a pause, and restarts the retry time of the waiting deliveries. */
  resume(notificationId: string): Promise<void>
}

interface DeliveryControlsDeps {
  readonly db: Kysely<Schema>
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
}

/** Creates the controls of deliveries. */
export function createDeliveryControls({ db, windowMs }: DeliveryControlsDeps): DeliveryControls {
  return {
    async redeliver(notificationId, selection) {
      const before = await countSelected(db, notificationId, selection)
      const redelivered = await redeliver(db, {
        notificationId,
        selection,
        limit: MAX_REDELIVERED,
        windowMs,
      })
      return { redelivered, remaining: Math.max(0, before - redelivered) }
    },
    test: (notificationId) => db.transaction().execute((tx) => recordTestEvent(tx, notificationId)),
    pause: (notificationId) => setPaused(db, notificationId, 'operator'),
    resume: (notificationId) =>
      db.transaction().execute(async (tx) => {
        const notification = await findNotification(tx, notificationId)
        if (notification?.paused === undefined) return
        await setPaused(tx, notificationId, null)
        await restartWindow(tx, notificationId, windowMs)
      }),
  }
}
