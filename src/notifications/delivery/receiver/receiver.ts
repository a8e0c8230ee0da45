import { maskWebhookUrl } from '../../mask-webhook-url.ts'
import type { Notification } from '../../notification.ts'
import type { Outgoing, Prepared, Settlement } from '../delivery.ts'
import type { ReceiverStart } from '../outgoing-store.ts'
import type { TryDeps, TryResult } from '../try-delivery.ts'
import { type Capacity, createCapacity } from './capacity.ts'
import { createDeliveryQueue, type DeliveryQueue } from './delivery-queue.ts'

/** The present content of a notification. */
export interface ReceiverUpdate {
  readonly notification: Notification
  /** Deliveries of earlier events are tried as long as if they were from this time. */
  readonly windowFrom?: Date | undefined
}

/** A notification that this process delivers to. */
export interface Receiver {
  readonly id: string
  /** The time in ms of the creation of the notification, which tells it from an earlier one with its id. */
  readonly since: number
  readonly queue: DeliveryQueue
  readonly notification: Notification
  /** The part of its url that people may see. */
  readonly maskedUrl: string
  readonly windowFrom: Date | undefined
  /** Signing keys, newest first; undefined until they are read again. Nothing is sent without them. */
  keys: readonly string[] | undefined
  update(update: ReceiverUpdate): void
  isPaused(): boolean
  /** Lets the receiver have a request now if it is suspended. */
  probeNow(): void
  /** Everything has failed for long, by a clock that does not step. */
  failsForLong(): boolean
  /** Takes the next delivery that may be sent now. */
  next(): Prepared | undefined
  /** Learns from the result of a try. */
  ended(result: TryResult): void
  /** When the receiver has been suspended for long: takes what is to be given up without a try. */
  takeExpired(): Outgoing[]
  /** Frees what was recorded, and returns the deliveries that now wait for a failed one. */
  recorded(settlements: readonly Settlement[]): Outgoing[]
}

/** Creates a receiver at its place in the event log. */
export function createReceiver(
  deps: Pick<TryDeps, 'clock' | 'random'>,
  start: ReceiverStart & Pick<Receiver, 'since'>,
  first: ReceiverUpdate,
): Receiver {
  const capacity: Capacity = createCapacity(deps)
  const queue = createDeliveryQueue(start)
  let { notification, windowFrom } = first
  let maskedUrl = maskWebhookUrl(notification)
  /** The receiver wants no further events at this url. Kept until the result of this event is recorded. */
  let gone: { readonly url: string; readonly number: bigint } | undefined

  const isPaused = () => notification.paused !== undefined || notification.url === gone?.url
  const receiver: Receiver = {
    id: notification.id,
    since: start.since,
    queue,
    get notification() {
      return notification
    },
    get maskedUrl() {
      return maskedUrl
    },
    get windowFrom() {
      return windowFrom
    },
    keys: undefined,
    update: (update) => {
      if (update.notification.url !== notification.url) capacity.restart()
      notification = update.notification
      maskedUrl = maskWebhookUrl(notification)
      windowFrom = update.windowFrom
    },
    isPaused,
    probeNow: capacity.probeNow,
    failsForLong: capacity.isSuspendedForLong,
    next() {
      if (isPaused() || receiver.keys === undefined || !capacity.isFree()) return undefined
      const taken = queue.take(capacity.isSuspended())
      if (taken !== undefined) capacity.started()
      return taken
    },
    ended({ settlement: { item, lastTry }, goneUrl, restMs }) {
      capacity.ended({ failed: lastTry.error !== undefined, first: item.tries === 0, restMs })
      if (goneUrl !== undefined) gone = { url: goneUrl, number: item.event.number }
    },
    takeExpired: () =>
      capacity.isSuspendedForLong() && !isPaused() ? queue.takeExpired(deps.clock.now()) : [],
    recorded: (settlements) => {
      if (settlements.some(({ item }) => item.event.number === gone?.number)) gone = undefined
      return queue.recorded(settlements)
    },
  }
  return receiver
}
