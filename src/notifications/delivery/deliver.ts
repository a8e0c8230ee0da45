import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Schema } from '../../database/schema.ts'
import type { EventRecord } from '../../events/event.ts'
import { createBatcher } from '../../lib/concurrency/batcher.ts'
import type { GuardedHttpClient } from '../../security/guarded-http-client.ts'
import type { SigningKeys } from '../keys.ts'
import type { Notification } from '../notification.ts'
import { type DeliveryOfEvent, findPending } from './delivery-store.ts'
import type { JobQueue } from './job-queue.ts'
import type { DeliveryObserver } from './observer.ts'
import { createReceivers } from './receivers.ts'
import { settleTries } from './settle.ts'
import { type TryDeps, type TryResult, tryDelivery } from './try-delivery.ts'

/** Writes the exact body of each event, in the same order. */
export type BodyWriter = (events: readonly EventRecord[]) => Promise<readonly string[]>

/** The dependencies of a deliverer. */
export interface DelivererDeps extends TryDeps {
  /** The client for urls of the configuration, which the operator trusts. */
  readonly httpClient: GuardedHttpClient
  /** The client for untrusted urls of callers. */
  readonly guardedClient: GuardedHttpClient
  readonly db: Kysely<Schema>
  readonly log: Logger
  readonly queue: JobQueue
  readonly keys: SigningKeys
  readonly bodiesOf: BodyWriter
  /** Absent when metrics are off. */
  readonly observer?: DeliveryObserver | undefined
}

/** Delivers due deliveries. */
export interface Deliverer {
  /** Starts tries of due deliveries, up to the concurrency limit of the receiver. It does not wait for their end. */
  deliverDue(notification: Notification): Promise<void>
  /** Waits for the running tries. */
  finish(): Promise<void>
}

/** The maximum number of tries that one database transaction settles. */
const MAX_SETTLED = 100

interface Done {
  readonly notificationId: string
  readonly result: TryResult
}

/** Creates the deliverer. It calls `onFree` whenever a receiver has a free slot again. */
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

  /** If the result cannot be stored, because the database does not answer, the queue gives the job to a later try. */
  async function attempt({ id, url, urlUntrusted }: Notification, one: Prepared): Promise<void> {
    const target = { url, ...(urlUntrusted && { urlUntrusted }) }
    try {
      const httpClient = urlUntrusted ? deps.guardedClient : deps.httpClient
      const result = await tryDelivery({ ...deps, httpClient }, { ...one, ...target })
      receivers.learn(id, result)
      await settle({ notificationId: id, result })
      deps.observer?.tried(outcomeOf(result))
    } catch (error) {
      const { delivery, event } = one.item
      deps.log.error(
        { err: error, notification: id, delivery: delivery.id, transaction: event.transactionId },
        'delivery result not stored; retrying',
      )
    } finally {
      receivers.finished(id)
      onFree(id)
    }
  }

  function start(notification: Notification, one: Prepared): void {
    receivers.started(notification.id)
    const work = attempt(notification, one).finally(() => running.delete(work))
    running.add(work)
  }

  return {
    async deliverDue(notification) {
      const free = receivers.freeSlots(notification.id)
      if (free === 0) return
      await deps.queue.open(notification.id)
      // Keys are read before jobs are claimed: without keys nothing can be sent, and the claimed jobs would have to time out.
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

/** Reads deliveries with their bodies. A delivery that is no longer pending was settled meanwhile, so it is skipped. */
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
