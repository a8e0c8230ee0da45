import { acquireLease, type Lease, LeaseLostError, releaseLease } from '../database/lease.ts'
import { Deliverer, type DelivererDeps } from '../notifications/delivery/deliver.ts'
import { startLate } from '../notifications/delivery/redeliver-store.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms that the lease lasts. */
const LEASE_MS = 10_000

/** The longest delay in ms of a due delivery, of a change, and of an event whose notification was lost. */
const BACKSTOP_MS = 1_000

/** Time in ms between two looks for deliveries that a clock ahead has made late. */
const LATE_MS = 30_000

/**
 * Time in ms for which events and results are collected, so that fewer statements are needed: longer after
 * larger rounds. The shortest wait is not noticeable, nor is the longest one under load.
 */
const GATHER = { minMs: 20, maxMs: 250, perItemMs: 8 } as const

const NEVER = Number.NEGATIVE_INFINITY

interface DeliverWorkerDeps extends DelivererDeps {
  /** Identifies this process in leases. */
  readonly owner: string
  /** Calls a handler whenever events were committed, until the returned function is called. */
  readonly onEvents: (handler: () => void) => () => void
}

/** The loop of deliveries. */
export interface DeliverLoop extends Loop {
  /** Deliveries became due, or a notification or its keys have changed. */
  wakeForChange(): void
}

/** Delivers events to webhooks, in one process at a time. */
export function createDeliverWorker(deps: DeliverWorkerDeps): DeliverLoop {
  const { db, clock, log, owner, onEvents } = deps
  const stopping = new AbortController()
  const deliverer = new Deliverer(deps, () => loop.wake())
  let lease: Lease | undefined
  let acquiredAt = NEVER
  let askAt = NEVER
  let refreshAt = NEVER
  let lateAt = NEVER
  let gatherMs: number = GATHER.minMs
  let unfollow: (() => void) | undefined

  /**
   * A process that delivers nothing, for it does not have the lease or there is no receiver, does not hear of
   * events.
   */
  function followEvents(isWanted: boolean): void {
    if (isWanted) unfollow ??= onEvents(wakeForEvents)
    else {
      unfollow?.()
      unfollow = undefined
    }
  }

  function wakeForEvents(): void {
    if (lease !== undefined && deliverer.canTakeMore()) loop.wake()
  }

  function forget(): void {
    acquiredAt = NEVER
    followEvents(false)
    deliverer.forget()
  }

  /** Takes or renews the lease in time. A process without it tries occasionally, not for each event. */
  async function hold(): Promise<Lease | undefined> {
    if (clock.monotonic() < askAt) return lease
    const askedAt = clock.monotonic()
    lease = await acquireLease(db, { name: 'relay', owner, ttlMs: LEASE_MS })
    if (lease === undefined) forget()
    else {
      if (acquiredAt === NEVER) refreshAt = NEVER
      acquiredAt = askedAt
    }
    askAt = askedAt + (lease === undefined ? BACKSTOP_MS / 2 : LEASE_MS / 2)
    return lease
  }

  async function refresh(): Promise<boolean> {
    if (clock.monotonic() < refreshAt) return true
    // Set first: a change during the refresh makes another one necessary.
    refreshAt = clock.monotonic() + BACKSTOP_MS
    deliverer.lookForDue()
    let found = false
    try {
      found = await deliverer.refresh()
    } finally {
      if (!found) refreshAt = NEVER
    }
    return found
  }

  async function startLateOnes(): Promise<void> {
    if (clock.monotonic() < lateAt) return
    lateAt = clock.monotonic() + LATE_MS
    for (const [notification, deliveries] of await startLate(db)) {
      log.warn({ notification, deliveries }, 'deliveries of a clock that was ahead are due now')
      deliverer.lookForDue()
    }
  }

  async function deliver(current: Lease): Promise<void> {
    await clock.sleep(gatherMs, stopping.signal)
    await startLateOnes()
    const count = await deliverer.round({ lease: current, until: acquiredAt + LEASE_MS })
    gatherMs = Math.min(GATHER.maxMs, Math.max(GATHER.minMs, count * GATHER.perItemMs))
  }

  const loop = createLoop({
    name: 'deliver',
    intervalMs: BACKSTOP_MS,
    clock,
    log,
    work: async () => {
      const current = await hold()
      if (current === undefined) return
      try {
        const hasReceivers = await refresh()
        followEvents(hasReceivers)
        if (hasReceivers) await deliver(current)
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
        // Another process has the lease now, and delivers everything else.
        lease = undefined
        forget()
      }
    },
  })

  return {
    ...loop,
    wakeForChange() {
      if (lease === undefined) return
      refreshAt = NEVER
      deliverer.hold()
      loop.wake()
    },
    stop: async () => {
      stopping.abort()
      await loop.stop()
      followEvents(false)
      await deliverer.finish(lease)
      // A lease that cannot be released ends at its deadline, and the shutdown continues.
      if (lease !== undefined) await releaseLease(db, lease).catch(() => {})
    },
  }
}
