import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Db } from '../../database/db.ts'
import type { Lease } from '../../database/lease.ts'
import type { GuardedHttpClient } from '../../security/guarded-http-client.ts'
import type { SigningKeys } from '../keys.ts'
import { allNotifications } from '../store.ts'
import type { DeliveryObserver, Prepared, Settlement } from './delivery.ts'
import { readCursors, readStarts } from './outgoing-store.ts'
import { DeliveryReader, type ReaderDeps } from './reader.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import { startAllNext } from './record-store.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { type TryDeps, tryDelivery } from './try-delivery.ts'

/** The dependencies of a deliverer. */
export interface DelivererDeps extends TryDeps, ReaderDeps {
  /** The client for urls of the configuration, which the operator trusts. */
  readonly httpClient: GuardedHttpClient
  /** The client for untrusted urls of callers. */
  readonly guardedClient: GuardedHttpClient
  readonly keys: SigningKeys
  /** Absent if metrics are off. */
  readonly observer?: DeliveryObserver | undefined
}

/** The right to deliver. Only one process has it at a time. */
interface DeliveryRight {
  readonly lease: Lease
  /**
   * No request starts after this time of `clock.monotonic()`: the lease may belong to another process then.
   */
  readonly until: number
}

/** Fewer results than this wait for the next round, so that one statement writes many. */
const MIN_RECORDED = 128

/** Given up without a try. */
const NEVER_SENT = 'The receiver failed for the whole retry period; this event was not sent.'

/**
 * Delivers events to all receivers, independently of each other. It keeps their state in memory while this
 * process has the lease.
 */
export class Deliverer {
  readonly #deps: DelivererDeps
  /** The same with the client for urls of callers. */
  readonly #untrusted: TryDeps
  /** Called when a result waits to be recorded. */
  readonly #onResult: () => void
  readonly #receivers = new Map<string, Receiver>()
  readonly #recorder: Recorder
  readonly #reader: DeliveryReader
  readonly #running = new Set<Promise<void>>()
  #until = Number.NEGATIVE_INFINITY
  /** True from a change until the first refresh that begins after it. */
  #isOnHold = false
  #holds = 0

  constructor(deps: DelivererDeps, onResult: () => void) {
    this.#deps = deps
    this.#untrusted = { ...deps, httpClient: deps.guardedClient }
    this.#onResult = onResult
    this.#recorder = createRecorder(deps.db, this.#receivers)
    this.#reader = new DeliveryReader(deps, this.#receivers)
  }

  /** Reads notifications and keys again. Returns false when there are no notifications. */
  async refresh(): Promise<boolean> {
    const holdsBefore = this.#holds
    const added = await refreshReceivers(this.#deps, this.#receivers)
    for (const id of added) this.#recorder.drop(id)
    if (added.size > 0 && (await startAllNext(this.#deps.db)) > 0) this.#reader.lookForDue()
    for (const receiver of this.#receivers.values()) receiver.keys = undefined
    if (this.#holds === holdsBefore) this.#isOnHold = false
    return this.#receivers.size > 0
  }

  /**
   * Records results, reads further deliveries and starts them. Returns the number of results and deliveries.
   */
  async round(right: DeliveryRight): Promise<number> {
    this.#until = right.until
    let count = await this.#flush(right.lease)
    await this.#sendAll()
    await this.#reader.lookForEvents()
    for (let more = true; more && this.#deps.clock.monotonic() < this.#until; ) {
      // Requests of callers are read between two passes: statements of the embedded database leave no time
      // for them.
      await endOfTurn()
      const page = await this.#reader.read()
      for (const item of page.blocked) this.#settle({ item, status: 'waiting' })
      await this.#sendAll()
      count += page.count
      if (this.#recorder.waiting >= MIN_RECORDED) count += await this.#flush(right.lease)
      more = page.more
    }
    return count
  }

  /** Looks for due deliveries in the next round. */
  lookForDue(): void {
    this.#reader.lookForDue()
  }

  /**
   * Something was changed: no request starts before the next refresh, and suspended receivers get one after
   * it.
   */
  hold(): void {
    this.#isOnHold = true
    this.#holds += 1
    for (const receiver of this.#receivers.values()) receiver.probeNow()
  }

  /** True when a receiver can take further events. */
  canTakeMore(): boolean {
    return [...this.#receivers.values()].some((one) => !one.isPaused() && one.queue.free() > 0)
  }

  /** Forgets the state in memory: another process delivers. */
  forget(): void {
    this.#receivers.clear()
    this.#recorder.forget()
    this.#until = Number.NEGATIVE_INFINITY
  }

  /** Starts no further request, waits for the running ones, and records their results. */
  async finish(lease: Lease | undefined): Promise<void> {
    this.#until = Number.NEGATIVE_INFINITY
    await Promise.all(this.#running)
    if (lease !== undefined) await this.#flush(lease)
  }

  async #flush(lease: Lease): Promise<number> {
    for (const receiver of this.#receivers.values())
      for (const item of receiver.takeExpired())
        this.#settle({ item, status: 'dead', lastTry: { error: NEVER_SENT } })
    const written = await this.#recorder.flush(lease)
    if (this.#recorder.takeStarted()) this.#reader.lookForDue()
    for (const settlement of written) observe(this.#deps, settlement)
    return written.length
  }

  async #sendAll(): Promise<void> {
    for (const receiver of this.#receivers.values()) {
      if (receiver.isPaused()) continue
      if (receiver.keys === undefined && receiver.queue.size > 0) await this.#readKeys(receiver)
      this.#send(receiver)
    }
  }

  /** A fault of one notification stops no other. */
  async #readKeys(receiver: Receiver): Promise<void> {
    const { keys, log } = this.#deps
    try {
      receiver.keys = await keys.of(receiver.id)
    } catch (error) {
      log.error({ err: error, notification: receiver.id }, 'signing keys not read; its deliveries wait')
    }
  }

  /** Starts what may start now. */
  #send(receiver: Receiver): void {
    while (!this.#isOnHold && this.#deps.clock.monotonic() < this.#until) {
      const { keys = [] } = receiver
      const prepared = receiver.next()
      if (prepared === undefined) break
      const work = this.#attempt(receiver, prepared, keys).finally(() => this.#running.delete(work))
      this.#running.add(work)
    }
  }

  async #attempt(receiver: Receiver, prepared: Prepared, keys: readonly string[]): Promise<void> {
    const { notification, maskedUrl } = receiver
    const failsForLong = receiver.failsForLong()
    const result = await tryDelivery(notification.urlUntrusted ? this.#untrusted : this.#deps, {
      ...prepared,
      notification,
      maskedUrl,
      keys,
      failsForLong,
    })
    receiver.ended(result)
    // Results of a receiver that has since been dropped belong to the next owner of the lease.
    if (this.#receivers.get(receiver.id) !== receiver) return
    this.#settle(result.settlement, result.goneUrl)
    this.#send(receiver)
  }

  #settle(settlement: Settlement, goneUrl?: string): void {
    this.#recorder.add(settlement, goneUrl)
    this.#onResult()
  }
}

const OUTCOMES = { delivered: 'delivered', pending: 'retried', dead: 'dead' } as const

function observe({ observer }: DelivererDeps, { status, lastTry }: Settlement): void {
  if (status === 'waiting' || lastTry === undefined) return
  const seconds = 'latencyMs' in lastTry ? lastTry.latencyMs / 1000 : 0
  observer?.tried({ outcome: OUTCOMES[status], seconds })
}

type RefreshDeps = Pick<TryDeps, 'clock' | 'random'> & { readonly db: Db }

/**
 * Brings receivers in line with the stored notifications. Returns the ids of those that are new, or another
 * one under the same id.
 */
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
