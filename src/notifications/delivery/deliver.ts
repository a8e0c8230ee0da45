import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Lease } from '../../database/lease.ts'
import type { Db } from '../../database/schema.ts'
import type { EventRecord } from '../../events/event.ts'
import type { GuardedHttpClient } from '../../security/guarded-http-client.ts'
import type { SigningKeys } from '../keys.ts'
import type { Prepared, Settlement } from './delivery.ts'
import type { DeliveryObserver } from './observer.ts'
import { createReader } from './reader.ts'
import type { Receiver } from './receiver/receiver.ts'
import { startAllNext } from './record-store.ts'
import { createRecorder } from './recorder.ts'
import { refreshReceivers } from './refresh.ts'
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
  /** Absent when metrics are off. */
  readonly observer?: DeliveryObserver | undefined
}

/** The right to deliver. Only one process has it at a time. */
export interface DeliveryRight {
  readonly lease: Lease
  /** No request starts after this time of `clock.monotonic()`: the lease may belong to another process then. */
  readonly until: number
}

/** Delivers events to all receivers, independently of each other. It keeps their state in memory while this process has the lease. */
export interface Deliverer {
  /** Reads notifications and keys again. Returns false when there are no notifications. */
  refresh(): Promise<boolean>
  /** Records results, reads further deliveries and starts them. Returns the number of results and deliveries. */
  round(right: DeliveryRight): Promise<number>
  /** Looks for due deliveries in the next round. */
  lookForDue(): void
  /** Somebody has changed something: no request starts before the next refresh, and suspended receivers get one after it. */
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
const NEVER_SENT =
  'The receiver failed for the whole time in which the service tries; this event was not sent.'

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
  let isHeld = false
  let holds = 0

  async function refresh(): Promise<boolean> {
    const holdsBefore = holds
    const added = await refreshReceivers(deps, receivers)
    for (const id of added) recorder.drop(id)
    if (added.size > 0 && (await startAllNext(db)) > 0) reader.lookForDue()
    for (const receiver of receivers.values()) receiver.keys = undefined
    if (holds === holdsBefore) isHeld = false
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
    // Results of a receiver that was forgotten meanwhile belong to the next owner of the lease.
    if (receivers.get(receiver.id) !== receiver) return
    settle(result.settlement, result.goneUrl)
    send(receiver)
  }

  /** Starts what may start now. */
  function send(receiver: Receiver): void {
    while (!isHeld && clock.monotonic() < until) {
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
      isHeld = true
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
