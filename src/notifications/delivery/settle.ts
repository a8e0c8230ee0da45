import type { Kysely } from 'kysely'
import { notify } from '../../database/notify.ts'
import type { Schema } from '../../database/schema.ts'
import { pauseGone } from '../store.ts'
import { lockOrderingKeys, saveTries, startNext } from './delivery-store.ts'
import { DUE_CHANNEL } from './fan-out-store.ts'
import type { JobQueue } from './job-queue.ts'
import type { TryResult } from './try-delivery.ts'

interface SettleDeps {
  readonly db: Kysely<Schema>
  readonly queue: JobQueue
}

/**
 * Writes the results of tries of one notification in one database transaction: the deliveries, their jobs, the next delivery of each ordering
 * key, and a pause. After a crash before the commit, the jobs run again and receivers get an event id twice.
 */
export function settleTries(
  { db, queue }: SettleDeps,
  notificationId: string,
  results: readonly TryResult[],
): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const settlements = results.map(({ settlement }) => settlement)
    // Lock order: notification before deliveries. Any other order can deadlock.
    const gone = new Set(results.flatMap(({ goneUrl }) => goneUrl ?? []))
    for (const url of gone) await pauseGone(tx, notificationId, url)
    const orderingKeys = [...new Set(settlements.map(({ orderingKey }) => orderingKey))]
    await lockOrderingKeys(tx, notificationId, orderingKeys)
    const saved = await saveTries(tx, settlements)
    const settled = settlements.filter(({ id }) => saved.has(id))
    await queue.remove(
      tx,
      notificationId,
      settled.map(({ id }) => id),
    )
    const again = settled.filter(({ status }) => status === 'pending')
    const next = await startNext(tx, notificationId, orderingKeys)
    await queue.add(tx, notificationId, [
      ...again.map(({ id, delayMs = 0 }) => ({ id, delayMs })),
      ...next.map((id) => ({ id, delayMs: 0 })),
    ])
    if (next.length > 0) await notify(tx, DUE_CHANNEL, notificationId)
  })
}
