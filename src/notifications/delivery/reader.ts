import type { Logger } from 'pino'
import type { Db } from '../../database/db.ts'
import type { EventRecord } from '../../events/event.ts'
import { lastNumber } from '../../events/store.ts'
import type { Outgoing, Prepared } from './delivery.ts'
import { type FreshEvent, readDue, readFresh } from './outgoing-store.ts'
import type { Receiver } from './receiver.ts'

/** Writes the exact body of each event, in the same order. */
export type BodyWriter = (events: readonly EventRecord[]) => Promise<readonly string[]>

/** The dependencies of a reader. */
export interface ReaderDeps {
  readonly db: Db
  readonly log: Logger
  readonly bodiesOf: BodyWriter
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
}

/**
 * The number of deliveries that one statement reads. A statement blocks the embedded database while it runs.
 */
const PAGE = 128

/** The result of a pass over all receivers. */
interface Pass {
  /** The number of deliveries that were read. */
  readonly count: number
  /** An earlier delivery of their ordering key is open. */
  readonly blocked: readonly Outgoing[]
  /** A further pass would read more. */
  readonly more: boolean
}

/** Reads deliveries from the database into the queues of the receivers of this process. */
export class DeliveryReader {
  readonly #deps: ReaderDeps
  readonly #receivers: ReadonlyMap<string, Receiver>
  /** The number of the newest event. Passes read up to it. */
  #upTo = 0n
  #looksForDue = true

  constructor(deps: ReaderDeps, receivers: ReadonlyMap<string, Receiver>) {
    this.#deps = deps
    this.#receivers = receivers
  }

  /** Notes the number of the newest event. */
  async lookForEvents(): Promise<void> {
    this.#upTo = await lastNumber(this.#deps.db)
  }

  /** The next passes also read what is due, until nothing is left. */
  lookForDue(): void {
    this.#looksForDue = true
  }

  /** Makes a pass over all receivers. */
  async read(): Promise<Pass> {
    const findsDue = this.#looksForDue
    this.#looksForDue = false
    const open = [...this.#receivers.values()].filter((one) => !one.isPaused() && one.queue.free() > 0)
    let [count, more] = [0, false]
    const blocked: Outgoing[] = []
    for (let start = 0; start < open.length; start += PAGE) {
      const found = await this.#readGroup(open.slice(start, start + PAGE), findsDue)
      count += found.count
      more ||= found.more
      blocked.push(...found.blocked)
    }
    return { count, blocked, more: count > 0 && (more || this.#looksForDue) }
  }

  async #readGroup(group: readonly Receiver[], findsDue: boolean): Promise<Pass> {
    const due = findsDue ? await this.#readDue(group) : []
    await this.#add(due)
    const { events, more } = await this.#readFresh(group)
    const fresh = events.filter(
      ({ notificationId, event }) => !this.#receivers.get(notificationId)?.queue.wasRecorded(event.number),
    )
    await this.#add(fresh.filter(({ isBlocked }) => !isBlocked).map((one) => this.#toOutgoing(one)))
    const blocked = fresh.filter(({ isBlocked }) => isBlocked).map((one) => this.#toOutgoing(one))
    return { count: due.length + fresh.length, blocked, more }
  }

  /** Reads what is due for these receivers. Returns the items that are not in memory yet. */
  async #readDue(group: readonly Receiver[]): Promise<Outgoing[]> {
    const limits = new Map(
      group.map(({ id, queue }) => [id, Math.min(queue.free(), PAGE) + queue.storedCount]),
    )
    const due = await readDue(
      this.#deps.db,
      [...limits].map(([notificationId, limit]) => ({ notificationId, limit })),
    )
    const counts = Map.groupBy(due, ({ notificationId }) => notificationId)
    for (const [id, items] of counts) if (items.length === limits.get(id)) this.#looksForDue = true
    return due.filter(
      ({ notificationId, event }) => !this.#receivers.get(notificationId)?.queue.isPresent(event.number),
    )
  }

  async #readFresh(
    group: readonly Receiver[],
  ): Promise<{ readonly events: readonly FreshEvent[]; readonly more: boolean }> {
    const limit = Math.max(1, Math.floor(PAGE / group.length))
    const ranges = group.flatMap(({ id, queue }) => {
      const free = Math.min(queue.free(), limit)
      return free === 0 || queue.readTo >= this.#upTo
        ? []
        : [{ notificationId: id, after: queue.readTo, limit: free }]
    })
    if (ranges.length === 0) return { events: [], more: false }
    const events = await readFresh(this.#deps.db, ranges, this.#upTo)
    const pages = Map.groupBy(events, ({ notificationId }) => notificationId)
    let more = false
    for (const { notificationId, limit: asked } of ranges) {
      const page = pages.get(notificationId) ?? []
      const isFull = page.length === asked
      more ||= isFull
      const last = page.at(-1)?.event.number
      this.#noteRead(notificationId, page, isFull && last !== undefined ? last : this.#upTo)
    }
    return { events, more }
  }

  #noteRead(notificationId: string, page: readonly FreshEvent[], to: bigint): void {
    const queue = this.#receivers.get(notificationId)?.queue
    queue?.read(
      to,
      page.flatMap(({ event }) => (queue.wasRecorded(event.number) ? [] : event.number)),
    )
  }

  #toOutgoing({ notificationId, event, orderingKey }: FreshEvent): Outgoing {
    const from = Math.max(
      event.createdAt.getTime(),
      this.#receivers.get(notificationId)?.windowFrom?.getTime() ?? 0,
    )
    return {
      notificationId,
      event,
      orderingKey,
      tries: 0,
      giveUpAt: new Date(from + this.#deps.windowMs),
      stored: false,
    }
  }

  async #add(items: readonly Outgoing[]): Promise<void> {
    if (items.length === 0) return
    const prepared = await prepare(this.#deps, items)
    for (const [id, own] of Map.groupBy(prepared, ({ item }) => item.notificationId))
      this.#receivers.get(id)?.queue.add(own)
  }
}

/** Writes the bodies. One that cannot be written stops no other. */
async function prepare({ bodiesOf, log }: ReaderDeps, items: readonly Outgoing[]): Promise<Prepared[]> {
  const write = async (events: readonly EventRecord[]) => {
    try {
      return await bodiesOf(events)
    } catch (error) {
      if (events.length > 1) return undefined
      log.error(
        { err: error, event: events[0]?.uid, transaction: events[0]?.transactionId },
        'webhook body not written; retrying',
      )
      return []
    }
  }
  const bodies = await write(items.map(({ event }) => event))
  if (bodies !== undefined) return items.map((item, index) => ({ item, body: bodies[index] }))
  const prepared: Prepared[] = []
  for (const item of items) prepared.push({ item, body: (await write([item.event]))?.[0] })
  return prepared
}
