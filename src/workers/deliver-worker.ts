import { createDeliverer, type DelivererDeps } from '../notifications/delivery/deliver.ts'
import type { Notification } from '../notifications/notification.ts'
import { activeNotifications } from '../notifications/store.ts'
import { createLoop, type Loop } from './loop.ts'

/** How long a due delivery can lie that nobody announced, in ms: after a wait, or a crash of its process. */
const BACKSTOP_MS = 1_000

export interface DeliverLoop extends Loop {
  /** Something is due for this notification; without a name, perhaps for any. */
  wake(notificationId?: string): void
}

/** Brings due deliveries to their receivers, side by side; none waits for another. */
export function createDeliverWorker(deps: DelivererDeps): DeliverLoop {
  const { db, clock, log } = deps
  const due = new Set<string>()
  let lookedAt = Number.NEGATIVE_INFINITY
  const deliverer = createDeliverer(deps, (notificationId) => wake(notificationId))

  const loop = createLoop({
    name: 'deliver',
    intervalMs: BACKSTOP_MS,
    clock,
    log,
    work: async () => {
      const everybody = clock.now() - lookedAt >= BACKSTOP_MS
      if (everybody) lookedAt = clock.now()
      const named = new Set(due)
      due.clear()
      const wanted = ({ id }: Notification) => everybody || named.has(id)
      for (const notification of (await activeNotifications(db)).filter(wanted)) await deliver(notification)
    },
  })

  /** What is wrong with one notification stops no other. */
  async function deliver(notification: Notification): Promise<void> {
    try {
      await deliverer.deliverDue(notification)
    } catch (error) {
      log.error(
        { err: error, notification: notification.id },
        'deliveries could not be started; they are tried again',
      )
    }
  }

  function wake(notificationId?: string): void {
    if (notificationId === undefined) lookedAt = Number.NEGATIVE_INFINITY
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
