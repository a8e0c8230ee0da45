import type { Outgoing, Prepared, Settlement } from '../delivery.ts'

/** The maximum number of deliveries of one receiver in memory that have not been started. */
const MAX_QUEUED = 512

/** Fewer free places than this are none, so that the database is asked for many at a time. */
const MIN_FREE = 128

/** The memory for bodies of one receiver, in characters. */
const MAX_QUEUED_LENGTH = 2_097_152

/** A body counts as this many characters at least. */
const MIN_LENGTH = 4_096

/** The deliveries of one receiver in memory, from the database until their result is recorded. It keeps the order of each ordering key. */
export interface DeliveryQueue {
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
  /** Notes that all events up to this number have been read, and the numbers of those among them that have no row. */
  read(upTo: bigint, withoutRow: readonly bigint[]): void
  add(prepared: readonly Prepared[]): void
  /** Takes the first delivery whose ordering key is free; one without a row if there is any and `prefersFresh`. */
  take(prefersFresh: boolean): Prepared | undefined
  /** Takes the deliveries that are to be given up by this time and whose ordering key is free. */
  takeExpired(now: number): Outgoing[]
  /** The cursor when these results are recorded: each event up to it has a row. */
  cursorAfter(settlements: readonly Settlement[]): bigint
  /** Frees the ordering keys of recorded results. Returns the successors of failed deliveries, which now wait for them. */
  recorded(settlements: readonly Settlement[]): Outgoing[]
}

interface QueueStart {
  /** Each event up to this number has a row. */
  readonly cursor: bigint
  /** Later events that have a row, too. */
  readonly recorded: ReadonlySet<bigint>
}

/** Creates the queue of a receiver whose deliveries are in the database. */
export function createDeliveryQueue({ cursor, recorded }: QueueStart): DeliveryQueue {
  let readTo = cursor
  let queued: Prepared[] = []
  let longest = MIN_LENGTH
  /** Events that were read and have no row yet, in their order. */
  const open = new Set<bigint>()
  /** Everything from `add` until it is recorded, with the answer to the question if it has a row. */
  const present = new Map<bigint, boolean>()
  /** Ordering keys of which a delivery was sent, and its result is not recorded. */
  const busy = new Set<string>()

  /** Removes the queued deliveries that match; the later ones of an ordering key never match before an earlier one. */
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
