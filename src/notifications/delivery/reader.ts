import type { EventRecord } from '../../events/event.ts'
import { lastNumber } from '../../events/number-store.ts'
import type { DelivererDeps } from './deliver.ts'
import { type Outgoing, orderingKeyOf, type Prepared } from './delivery.ts'
import { type FreshEvent, readDue, readFresh } from './outgoing-store.ts'
import type { Receiver } from './receiver/receiver.ts'

/** The number of deliveries that one statement reads. A statement blocks the embedded database while it runs. */
const PAGE = 128

/** The result of a pass over all receivers. */
export interface Pass {
  /** The number of deliveries that were read. */
  readonly count: number
  /** An earlier delivery of their ordering key is open. */
  readonly blocked: readonly Outgoing[]
  /** A further pass would read more. */
  readonly more: boolean
}

/** Reads deliveries from the database into the queues of their receivers. */
export interface Reader {
  /** Notes the number of the newest event. Passes read up to it. */
  lookForEvents(): Promise<void>
  read(): Promise<Pass>
  /** The next passes also read what is due, until nothing is left. */
  lookForDue(): void
}

/** Creates the reader of the receivers of this process. */
export function createReader(deps: DelivererDeps, receivers: ReadonlyMap<string, Receiver>): Reader {
  const { db } = deps
  let upTo = 0n
  let looksForDue = true

  /** Reads what is due for these receivers. Returns the items that are not in memory yet. */
  async function readDueOf(group: readonly Receiver[]): Promise<Outgoing[]> {
    const limits = new Map(
      group.map(({ id, queue }) => [id, Math.min(queue.free(), PAGE) + queue.storedCount]),
    )
    const due = await readDue(
      db,
      [...limits].map(([notificationId, limit]) => ({ notificationId, limit })),
    )
    const counts = Map.groupBy(due, ({ notificationId }) => notificationId)
    for (const [id, items] of counts) if (items.length === limits.get(id)) looksForDue = true
    return due.filter(
      ({ notificationId, event }) => !receivers.get(notificationId)?.queue.isPresent(event.number),
    )
  }

  async function readFreshOf(group: readonly Receiver[]): Promise<FreshPage> {
    const limit = Math.max(1, Math.floor(PAGE / group.length))
    const ranges = group.flatMap(({ id, queue }) => {
      const free = Math.min(queue.free(), limit)
      return free === 0 || queue.readTo >= upTo
        ? []
        : [{ notificationId: id, after: queue.readTo, limit: free }]
    })
    if (ranges.length === 0) return { events: [], more: false }
    const events = await readFresh(db, ranges, upTo)
    const pages = Map.groupBy(events, ({ notificationId }) => notificationId)
    let more = false
    for (const { notificationId, limit: asked } of ranges) {
      const page = pages.get(notificationId) ?? []
      const isFull = page.length === asked
      more ||= isFull
      const last = page.at(-1)?.event.number
      noteRead(notificationId, page, isFull && last !== undefined ? last : upTo)
    }
    return { events, more }
  }

  function noteRead(notificationId: string, page: readonly FreshEvent[], to: bigint): void {
    const queue = receivers.get(notificationId)?.queue
    queue?.read(
      to,
      page.flatMap(({ event }) => (queue.wasRecorded(event.number) ? [] : event.number)),
    )
  }

  function toOutgoing({ notificationId, event }: FreshEvent): Outgoing {
    const from = Math.max(
      event.createdAt.getTime(),
      receivers.get(notificationId)?.windowFrom?.getTime() ?? 0,
    )
    return {
      notificationId,
      event,
      orderingKey: orderingKeyOf(event),
      tries: 0,
      giveUpAt: new Date(from + deps.windowMs),
      stored: false,
    }
  }

  async function readGroup(group: readonly Receiver[], findsDue: boolean) {
    const due = findsDue ? await readDueOf(group) : []
    await add(due)
    const { events, more } = await readFreshOf(group)
    const isNew = ({ notificationId, event }: FreshEvent) =>
      !receivers.get(notificationId)?.queue.wasRecorded(event.number)
    const fresh = events.filter(isNew)
    await add(fresh.filter(({ isBlocked }) => !isBlocked).map(toOutgoing))
    const blocked = fresh.filter(({ isBlocked }) => isBlocked).map(toOutgoing)
    return { count: due.length + fresh.length, blocked, more }
  }

  async function add(items: readonly Outgoing[]): Promise<void> {
    if (items.length === 0) return
    const prepared = await prepare(deps, items)
    for (const [id, own] of Map.groupBy(prepared, ({ item }) => item.notificationId))
      receivers.get(id)?.queue.add(own)
  }

  return {
    async lookForEvents() {
      upTo = await lastNumber(db)
    },
    async read() {
      const findsDue = looksForDue
      looksForDue = false
      const open = [...receivers.values()].filter((one) => !one.isPaused() && one.queue.free() > 0)
      let [count, more] = [0, false]
      const blocked: Outgoing[] = []
      for (let start = 0; start < open.length; start += PAGE) {
        const found = await readGroup(open.slice(start, start + PAGE), findsDue)
        count += found.count
        more ||= found.more
        blocked.push(...found.blocked)
      }
      return { count, blocked, more: count > 0 && (more || looksForDue) }
    },
    lookForDue() {
      looksForDue = true
    },
  }
}

interface FreshPage {
  readonly events: readonly FreshEvent[]
  readonly more: boolean
}

/** Writes the bodies. One that cannot be written stops no other. */
async function prepare({ bodiesOf, log }: DelivererDeps, items: readonly Outgoing[]): Promise<Prepared[]> {
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
