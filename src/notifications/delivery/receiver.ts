import { maskWebhookUrl, type Notification } from '../notification.ts'
import { type Capacity, createCapacity } from './capacity.ts'
import type { Outgoing, Prepared, Settlement } from './delivery.ts'
import type { ReceiverStart } from './outgoing-store.ts'
import type { TryDeps, TryResult } from './try-delivery.ts'

/** The current content of a notification. */
interface ReceiverUpdate {
  readonly notification: Notification
  /** Deliveries of earlier events are retried as if they were from this time. */
  readonly windowFrom?: Date | undefined
}

/** A notification that this process delivers to. */
export interface Receiver {
  readonly id: string
  /**
   * The time in ms of the creation of the notification, which distinguishes it from an earlier one with the
   * same id.
   */
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
  /** The receiver accepts no further events at this URL. Kept until the result of this event is recorded. */
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

/** The maximum number of deliveries of one receiver in memory that have not been started. */
const MAX_QUEUED = 512

/** Fewer free slots than this count as none, so that each query fetches many. */
const MIN_FREE = 128

/** The memory for bodies of one receiver, in characters. */
const MAX_QUEUED_LENGTH = 2_097_152

/** A body counts as this many characters at least. */
const MIN_LENGTH = 4_096

/**
 * The deliveries of one receiver in memory, from the database until their result is recorded. It keeps the
 * order of each ordering key.
 */
interface DeliveryQueue {
  /** The number of the last event that was read. */
  readonly readTo: bigint
  /** The number of deliveries that were not taken yet. */
  readonly size: number
  /** The number of deliveries with a row from `add` until their result is recorded. */
  readonly storedCount: number
  /** The number of further deliveries that it takes. */
  free(): number
  /** True for a delivery from `add` until its result is recorded. */
  isPresent(eventNumber: bigint): boolean
  /** True for an event behind the first cursor that had a row then. */
  wasRecorded(eventNumber: bigint): boolean
  /**
   * Notes that all events up to this number have been read, and the numbers of those among them that have no
   * row.
   */
  read(upTo: bigint, withoutRow: readonly bigint[]): void
  add(prepared: readonly Prepared[]): void
  /**
   * Takes the first delivery whose ordering key is free; one without a row if there is any and
   * `prefersFresh`.
   */
  take(prefersFresh: boolean): Prepared | undefined
  /** Takes the deliveries that are to be given up by this time and whose ordering key is free. */
  takeExpired(now: number): Outgoing[]
  /** The cursor when these results are recorded: each event up to it has a row. */
  cursorAfter(settlements: readonly Settlement[]): bigint
  /**
   * Frees the ordering keys of recorded results. Returns the successors of failed deliveries, which now wait
   * for them.
   */
  recorded(settlements: readonly Settlement[]): Outgoing[]
}

interface QueueStart {
  /** Each event up to this number has a row. */
  readonly cursor: bigint
  /** Later events that also have a row. */
  readonly recorded: ReadonlySet<bigint>
}

/** Creates the queue of a receiver whose deliveries are in the database. */
function createDeliveryQueue({ cursor, recorded }: QueueStart): DeliveryQueue {
  let readTo = cursor
  let queued: Prepared[] = []
  let longest = MIN_LENGTH
  /** Events that were read and have no row yet, in their order. */
  const open = new Set<bigint>()
  /** Everything from `add` until it is recorded, with the answer to the question if it has a row. */
  const present = new Map<bigint, boolean>()
  /** Ordering keys of which a delivery was sent, and its result is not recorded. */
  const busy = new Set<string>()

  /**
   * Removes the queued deliveries that match; the later ones of an ordering key never match before an earlier
   * one.
   */
  function remove(matches: (item: Outgoing) => boolean): Outgoing[] {
    const removed = queued.filter(({ item }) => matches(item))
    if (removed.length > 0) queued = queued.filter(({ item }) => !matches(item))
    return removed.map(({ item }) => item)
  }

  return {
    get readTo() {
      return readTo
    },
    get size() {
      return queued.length
    },
    get storedCount() {
      return [...present.values()].filter((stored) => stored).length
    },
    free() {
      if (queued.length === 0)
        return Math.max(1, Math.min(MAX_QUEUED, Math.floor(MAX_QUEUED_LENGTH / longest)))
      const length = queued.reduce((sum, { body }) => sum + Math.max(MIN_LENGTH, body?.length ?? 0), 0)
      const free = Math.min(MAX_QUEUED - queued.length, Math.floor((MAX_QUEUED_LENGTH - length) / longest))
      return free < MIN_FREE ? 0 : free
    },
    isPresent: (eventNumber) => present.has(eventNumber),
    wasRecorded: (eventNumber) => recorded.has(eventNumber),
    read(upTo, withoutRow) {
      readTo = upTo
      for (const number of withoutRow) open.add(number)
    },
    add(prepared) {
      longest = Math.max(MIN_LENGTH, ...prepared.map(({ body }) => body?.length ?? 0))
      for (const { item } of prepared) present.set(item.event.number, item.stored)
      queued = [
        ...prepared.filter(({ item }) => item.stored),
        ...queued,
        ...prepared.filter(({ item }) => !item.stored),
      ]
    },
    take(prefersFresh) {
      const isFree = ({ item }: Prepared) => !busy.has(item.orderingKey)
      const preferred = prefersFresh ? queued.findIndex((one) => !one.item.stored && isFree(one)) : -1
      const index = preferred >= 0 ? preferred : queued.findIndex(isFree)
      const [taken] = index < 0 ? [] : queued.splice(index, 1)
      if (taken !== undefined) busy.add(taken.item.orderingKey)
      return taken
    },
    takeExpired(now) {
      const expired = remove(
        ({ giveUpAt, orderingKey }) => giveUpAt.getTime() <= now && !busy.has(orderingKey),
      )
      for (const { orderingKey } of expired) busy.add(orderingKey)
      return expired
    },
    cursorAfter(settlements) {
      const settled = new Set(settlements.map(({ item }) => item.event.number))
      for (const number of open) if (!settled.has(number)) return number - 1n
      return readTo
    },
    recorded(settlements) {
      for (const { item, status } of settlements) {
        open.delete(item.event.number)
        present.delete(item.event.number)
        // A delivery that only waits was not sent: another one may hold the ordering key.
        if (status !== 'waiting') busy.delete(item.orderingKey)
      }
      const failed = new Set(
        settlements.flatMap(({ item, status }) => (status === 'pending' ? item.orderingKey : [])),
      )
      return failed.size === 0 ? [] : remove(({ orderingKey, stored }) => !stored && failed.has(orderingKey))
    },
  }
}
