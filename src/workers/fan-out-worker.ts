import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { acquireLease, type Lease, LeaseLostError, releaseLease } from '../database/lease.ts'
import type { Schema } from '../database/schema.ts'
import { lastNumber } from '../events/number-store.ts'
import type { Clock } from '../lib/clock.ts'
import { relayEvents } from '../notifications/delivery/fan-out-store.ts'
import type { JobQueue } from '../notifications/delivery/job-queue.ts'
import { hasNotifications } from '../notifications/store.ts'
import { createLoop, type Loop } from './loop.ts'

/** How long one process relays without asking for the lease again, in ms. */
const LEASE_MS = 10_000

/** How long an event can lie that nobody announced, in ms. */
const BACKSTOP_MS = 1_000

/** Events that come within this time are relayed together, in ms: fewer transactions, and nobody sees the difference. */
const GATHER_MS = 50

interface RelayWorkerDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: Logger
  readonly queue: JobQueue
  /** Identifies this process in leases. */
  readonly owner: string
  /** How long a delivery is tried, in ms. */
  readonly windowMs: number
}

/** Turns events into deliveries, in one process at a time. */
export function createRelayWorker(deps: RelayWorkerDeps): Loop {
  const { db, clock, log, owner } = deps
  const stopping = new AbortController()
  let lease: Lease | undefined
  let askAgainAt = 0

  async function hold(): Promise<Lease | undefined> {
    if (clock.now() < askAgainAt) return lease
    lease = await acquireLease(db, { name: 'relay', owner, ttlMs: LEASE_MS })
    askAgainAt = lease === undefined ? 0 : clock.now() + LEASE_MS / 2
    return lease
  }

  async function relayAll(held: Lease): Promise<void> {
    await clock.sleep(GATHER_MS, stopping.signal)
    await lastNumber(db)
    while ((await relayEvents(deps, held)).more) if ((await hold()) === undefined) return
  }

  const loop = createLoop({
    name: 'relay',
    intervalMs: BACKSTOP_MS,
    clock,
    log,
    work: async () => {
      if (!(await hasNotifications(db))) return
      const held = await hold()
      if (held === undefined) return
      try {
        await relayAll(held)
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
        // Another process was faster; it relays what we did not.
        askAgainAt = 0
      }
    },
  })
  return {
    ...loop,
    stop: async () => {
      stopping.abort()
      await loop.stop()
      if (lease !== undefined) await releaseLease(db, lease)
    },
  }
}
