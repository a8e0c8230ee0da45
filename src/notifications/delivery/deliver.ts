import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Db } from '../../database/db.ts'
import type { Lease } from '../../database/lease.ts'
import type { EventRecord } from '../../events/event.ts'
import { lastNumber } from '../../events/store.ts'
import type { GuardedHttpClient } from '../../security/guarded-http-client.ts'
import type { SigningKeys } from '../keys.ts'
import { allNotifications } from '../store.ts'
import {
  type DeliveryObserver,
  type Outgoing,
  orderingKeyOf,
  type Prepared,
  type Settlement,
} from './delivery.ts'
import { type FreshEvent, readCursors, readDue, readFresh, readStarts } from './outgoing-store.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import { startAllNext } from './record-store.ts'
import { createRecorder } from './recorder.ts'
import { type TryDeps, tryDelivery } from './try-delivery.ts'

/** Writes the exact body of each event, in the same order. */
export type BodyWriter = (events: readonly EventRecord[]) => Promise<readonly string[]>

/** The dependencies of a deliverer. */
export interface DelivererDeps extends TryDeps {
  /** The client for urls of the configuration, which the operator trusts. */
  readonly httpClient: GuardedHttpClient
  /** The client for untrusted urls of callers. */
  readonly guardedClient: GuardedHttpClient
  readonly db: Db
  readonly log: Logger
  readonly keys: SigningKeys
  readonly bodiesOf: BodyWriter
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
  /** Absent if metrics are off. */
  readonly observer?: DeliveryObserver | undefined
}

/** The right to deliver. Only one process has it at a time. */
interface DeliveryRight {
  readonly lease: Lease
  /** No request starts after this time of `clock.monotonic()`: the lease may belong to another process then. */
  readonly until: number
}

/** Delivers events to all receivers, independently of each other. It keeps their state in memory while this process has the lease. */
interface Deliverer {
  /** Reads notifications and keys again. Returns false when there are no notifications. */
  refresh(): Promise<boolean>
  /** Records results, reads further deliveries and starts them. Returns the number of results and deliveries. */
  round(right: DeliveryRight): Promise<number>
  /** Looks for due deliveries in the next round. */
  lookForDue(): void
  /** Something was changed: no request starts before the next refresh, and suspended receivers get one after it. */
  hold(): void
  /** True when a receiver can take further events. */
  canTakeMore(): boolean
  /** Forgets the state in memory: another process delivers. */
  forget(): void
  /** Starts no further request, waits for the running ones, and records their results. */
  finish(lease: Lease | undefined): Promise<void>
}

/** Fewer results than this wait for the next round, so that one statement writes many. */
const MIN_RECORDED = 128

/** Given up without a try. */
const NEVER_SENT = 'The receiver failed for the whole retry period; this event was not sent.'

/** Creates the deliverer. It calls `onResult` when a result waits to be recorded. */
export function createDeliverer(deps: DelivererDeps, onResult: () => void): Deliverer {
  const { db, clock, log } = deps
  const receivers = new Map<string, Receiver>()
  const recorder = createRecorder(db, receivers)
  const reader = createReader(deps, receivers)
  const running = new Set<Promise<void>>()
  const untrusted: TryDeps = { ...deps, httpClient: deps.guardedClient }
  let until = Number.NEGATIVE_INFINITY
  /** True from a change until the first refresh that begins after it. */
  let isOnHold = false
  let holds = 0

  async function refresh(): Promise<boolean> {
    const holdsBefore = holds
    const added = await refreshReceivers(deps, receivers)
    for (const id of added) recorder.drop(id)
    if (added.size > 0 && (await startAllNext(db)) > 0) reader.lookForDue()
    for (const receiver of receivers.values()) receiver.keys = undefined
    if (holds === holdsBefore) isOnHold = false
    return receivers.size > 0
  }

  /** A fault of one notification stops no other. */
  async function readKeys(receiver: Receiver): Promise<void> {
    try {
      receiver.keys = await deps.keys.of(receiver.id)
    } catch (error) {
      log.error({ err: error, notification: receiver.id }, 'signing keys not read; its deliveries wait')
    }
  }

  function settle(settlement: Settlement, goneUrl?: string): void {
    recorder.add(settlement, goneUrl)
    onResult()
  }

  async function attempt(receiver: Receiver, prepared: Prepared, keys: readonly string[]): Promise<void> {
    const { notification, maskedUrl } = receiver
    const { url, urlUntrusted } = notification
    const failsForLong = receiver.failsForLong()
    const result = await tryDelivery(urlUntrusted ? untrusted : deps, {
      ...prepared,
      url,
      maskedUrl,
      keys,
      failsForLong,
    })
    receiver.ended(result)
    // Results of a receiver that has since been dropped belong to the next owner of the lease.
    if (receivers.get(receiver.id) !== receiver) return
    settle(result.settlement, result.goneUrl)
    send(receiver)
  }

  /** Starts what may start now. */
  function send(receiver: Receiver): void {
    while (!isOnHold && clock.monotonic() < until) {
      const { keys = [] } = receiver
      const prepared = receiver.next()
      if (prepared === undefined) break
      const work = attempt(receiver, prepared, keys).finally(() => running.delete(work))
      running.add(work)
    }
  }

  async function flush(lease: Lease): Promise<number> {
    for (const receiver of receivers.values())
      for (const item of receiver.takeExpired())
        settle({ item, status: 'dead', lastTry: { error: NEVER_SENT } })
    const written = await recorder.flush(lease)
    if (recorder.takeStarted()) reader.lookForDue()
    for (const settlement of written) observe(deps, settlement)
    return written.length
  }

  async function sendAll(): Promise<void> {
    for (const receiver of receivers.values()) {
      if (receiver.isPaused()) continue
      if (receiver.keys === undefined && receiver.queue.size > 0) await readKeys(receiver)
      send(receiver)
    }
  }

  return {
    refresh,
    async round(right) {
      until = right.until
      let count = await flush(right.lease)
      await sendAll()
      await reader.lookForEvents()
      for (let more = true; more && clock.monotonic() < until; ) {
        // Requests of callers are read between two passes: statements of the embedded database leave no time for them.
        await endOfTurn()
        const page = await reader.read()
        for (const item of page.blocked) settle({ item, status: 'waiting' })
        await sendAll()
        count += page.count
        if (recorder.waiting >= MIN_RECORDED) count += await flush(right.lease)
        more = page.more
      }
      return count
    },
    lookForDue: reader.lookForDue,
    hold() {
      isOnHold = true
      holds += 1
      for (const receiver of receivers.values()) receiver.probeNow()
    },
    canTakeMore: () => [...receivers.values()].some((one) => !one.isPaused() && one.queue.free() > 0),
    forget() {
      receivers.clear()
      recorder.forget()
      until = Number.NEGATIVE_INFINITY
    },
    async finish(lease) {
      until = Number.NEGATIVE_INFINITY
      await Promise.all(running)
      if (lease !== undefined) await flush(lease)
    },
  }
}

const OUTCOMES = { delivered: 'delivered', pending: 'retried', dead: 'dead' } as const

function observe({ observer }: DelivererDeps, { status, lastTry }: Settlement): void {
  if (status === 'waiting' || lastTry === undefined) return
  const seconds = 'latencyMs' in lastTry ? lastTry.latencyMs / 1000 : 0
  observer?.tried({ outcome: OUTCOMES[status], seconds })
}

/** The number of deliveries that one statement reads. A statement blocks the embedded database while it runs. */
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

/** Reads deliveries from the database into the queues of their receivers. */
interface Reader {
  /** Notes the number of the newest event. Passes read up to it. */
  lookForEvents(): Promise<void>
  read(): Promise<Pass>
  /** The next passes also read what is due, until nothing is left. */
  lookForDue(): void
}

/** Creates the reader of the receivers of this process. */
function createReader(deps: DelivererDeps, receivers: ReadonlyMap<string, Receiver>): Reader {
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

type RefreshDeps = Pick<TryDeps, 'clock' | 'random'> & { readonly db: Db }

/** Brings receivers in line with the stored notifications. Returns the ids of those that are new, or another one under the same id. */
async function refreshReceivers(deps: RefreshDeps, receivers: Map<string, Receiver>): Promise<Set<string>> {
  const notifications = await allNotifications(deps.db)
  const cursors = await readCursors(deps.db)
  const isNew = (id: string) => receivers.get(id)?.since !== cursors.get(id)?.createdAt.getTime()
  const added = new Set(notifications.flatMap(({ id }) => (isNew(id) ? id : [])))
  const starts = added.size === 0 ? undefined : await readStarts(deps.db, [...added])
  const present = new Set(notifications.map(({ id }) => id))
  for (const id of receivers.keys()) if (!present.has(id) || added.has(id)) receivers.delete(id)
  for (const notification of notifications) {
    const cursor = cursors.get(notification.id)
    const update = { notification, windowFrom: cursor?.windowFrom }
    const start = starts?.get(notification.id)
    if (start !== undefined && cursor !== undefined)
      receivers.set(
        notification.id,
        createReceiver(deps, { ...start, since: cursor.createdAt.getTime() }, update),
      )
    receivers.get(notification.id)?.update(update)
  }
  return added
}
