import { createDeliverer, type DelivererDeps } from '../notifications/delivery/deliver.ts'
import type { Notification } from '../notifications/notification.ts'
import { activeNotifications } from '../notifications/store.ts'
import { createLoop, type Loop } from './loop.ts'

/** The longest delay in ms of a due delivery without a wake: after a retry delay, or after a crash of its process. */
const BACKSTOP_MS = 1_000

/** The loop of deliveries, which can be woken for one notification. */
export interface DeliverLoop extends Loop {
  /** A delivery of this notification is due; without an id, any notification may have one. */
  wake(notificationId?: string): void
}

/** Starts due deliveries of all receivers in parallel; none waits for another. */
export function createDeliverWorker(deps: DelivererDeps): DeliverLoop {
  const { db, clock, log } = deps
  const due = new Set<string>()
  let checkedAllAt = Number.NEGATIVE_INFINITY
  const deliverer = createDeliverer(deps, (notificationId) => wake(notificationId))

  const loop = createLoop({
    name: 'deliver',
    intervalMs: BACKSTOP_MS,
    clock,
    log,
    work: async () => {
      const all = clock.monotonic() - checkedAllAt >= BACKSTOP_MS
      if (all) checkedAllAt = clock.monotonic()
      const named = new Set(due)
      due.clear()
      const wanted = ({ id }: Notification) => all || named.has(id)
      for (const notification of (await activeNotifications(db)).filter(wanted)) await deliver(notification)
    },
  })

  /** Catches errors, so that a fault of one notification stops no other. */
  async function deliver(notification: Notification): Promise<void> {
    try {
      await deliverer.deliverDue(notification)
    } catch (error) {
      log.error({ err: error, notification: notification.id }, 'delivery start failed; retrying')
    }
  }

  function wake(notificationId?: string): void {
    if (notificationId === undefined) checkedAllAt = Number.NEGATIVE_INFINITY
    else due.add(notificationId)
    loop.wake()
  }

  return {
    ...loop,
    wake,
    stop: async () => {
      await loop.stop()
      await deliverer.finish()
    },
  }
}
