import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Schema } from '../../database/schema.ts'
import type { EventRecord } from '../../events/event.ts'
import { createBatcher } from '../../lib/batcher.ts'
import type { GuardedHttpClient } from '../../security/guarded-http-client.ts'
import type { SigningKeys } from '../keys.ts'
import type { Notification } from '../notification.ts'
import { type DeliveryOfEvent, findPending } from './delivery-store.ts'
import type { JobQueue } from './job-queue.ts'
import type { DeliveryObserver } from './observer.ts'
import { createReceivers } from './receivers.ts'
import { settleTries } from './settle.ts'
import { type TryDeps, type TryResult, tryDelivery } from './try-delivery.ts'

/** The exact body of each event, in the order given. */
export type BodyWriter = (events: readonly EventRecord[]) => Promise<readonly string[]>

export interface DelivererDeps extends Omit<TryDeps, 'poster'> {
  /** For urls of the configuration, which are the operator's own. */
  readonly httpClient: GuardedHttpClient
  /** For urls that callers chose. */
  readonly guardedClient: GuardedHttpClient
  readonly db: Kysely<Schema>
  readonly log: Logger
  readonly queue: JobQueue
  readonly keys: SigningKeys
  readonly bodiesOf: BodyWriter
  /** Absent when metrics are off. */
  readonly observer?: DeliveryObserver | undefined
}

/** Delivers what is due. */
export interface Deliverer {
  /** Starts tries for due deliveries, as many as the receiver may have at a time. Does not wait for their end. */
  deliverDue(notification: Notification): Promise<void>
  /** Waits for the tries under way. */
  finish(): Promise<void>
}

/** Tries settled in one database transaction at most. */
const MAX_SETTLED = 100

interface Done {
  readonly notificationId: string
  readonly result: TryResult
}

/** `onFree` is called whenever a receiver may be given more. */
export function createDeliverer(deps: DelivererDeps, onFree: (notificationId: string) => void): Deliverer {
  const receivers = createReceivers(deps.clock)
  const running = new Set<Promise<void>>()
  const settle = createBatcher<Done, true>({
    keyOf: ({ notificationId }) => notificationId,
    maxItems: MAX_SETTLED,
    collectsTurn: true,
    run: async (done) => {
      const results = done.map(({ result }) => result)
      await settleTries(deps, done[0]?.notificationId ?? '', results)
      return done.map((): true => true)
    },
  })

  /** A try that cannot be settled, as the database is away, is left to the queue, which gives its job out again. */
  async function attempt({ id, url, urlUntrusted }: Notification, one: Prepared): Promise<void> {
    try {
      const httpClient = urlUntrusted ? deps.guardedClient : deps.httpClient
      const result = await tryDelivery({ ...deps, httpClient }, { ...one, url })
      receivers.ended(id, result)
      await settle({ notificationId: id, result })
      deps.observer?.tried(outcomeOf(result))
    } catch (error) {
      const { delivery, event } = one.item
      deps.log.error(
        { err: error, notification: id, delivery: delivery.id, transaction: event.transactionId },
        'a delivery could not be settled; it is made again',
      )
    } finally {
      receivers.left(id)
      onFree(id)
    }
  }

  function start(notification: Notification, one: Prepared): void {
    receivers.entered(notification.id)
    const work = attempt(notification, one).finally(() => running.delete(work))
    running.add(work)
  }

  return {
    async deliverDue(notification) {
      const free = receivers.free(notification.id)
      if (free === 0) return
      await deps.queue.open(notification.id)
      // Before anything is taken: without its keys nothing can be sent, and what was taken would have to time out.
      const keys = await deps.keys.of(notification.id)
      const ids = await deps.queue.take(notification.id, free)
      for (const one of await prepare(deps, keys, ids)) start(notification, one)
    },
    finish: async () => {
      await Promise.all(running)
    },
  }
}

const OUTCOMES = { delivered: 'delivered', pending: 'retried', dead: 'dead' } as const

function outcomeOf({ settlement: { status, exchange } }: TryResult) {
  return { outcome: OUTCOMES[status], seconds: exchange.latencyMs / 1000 }
}

interface Prepared {
  readonly item: DeliveryOfEvent
  readonly keys: readonly string[]
  readonly body: string
}

/** A job whose delivery is not pending any more was overtaken by a settlement; it is gone with it. */
async function prepare(
  { db, bodiesOf }: DelivererDeps,
  keys: readonly string[],
  ids: readonly string[],
): Promise<Prepared[]> {
  const items = await findPending(db, ids)
  if (items.length === 0) return []
  const bodies = await bodiesOf(items.map(({ event }) => event))
  return items.flatMap((item, index) => {
    const body = bodies[index]
    return body === undefined ? [] : [{ item, keys, body }]
  })
}
