import { acquireLease, type Lease, releaseLease } from '../database/lease.ts'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../lib/time/clock.ts'

interface LeaseHolderOptions {
  readonly db: Db
  readonly clock: Clock
  /** Identifies this process in leases. */
  readonly owner: string
  readonly name: string
  /** Time in ms that the lease lasts. It is renewed at half of it. */
  readonly ttlMs: number
  /** Time in ms between two tries while another process has the lease. Default: at every call. */
  readonly standbyMs?: number
}

/** A lease that is renewed in time. Calls are cheap while it lasts. */
export interface LeaseHolder {
  /** Acquires or renews the lease when that is due. Returns true while this process has it. */
  hold(): Promise<boolean>
  /** Lets the next owner take over at once. Never rejects: a lease that cannot be released ends at its deadline, and a stop goes on. */
  release(): Promise<void>
}

/** Creates a holder that has not tried to get its lease yet. */
export function createLeaseHolder(options: LeaseHolderOptions): LeaseHolder {
  const { db, clock, owner, name, ttlMs, standbyMs = 0 } = options
  let lease: Lease | undefined
  let renewAt = 0
  return {
    hold: async () => {
      const now = clock.monotonic()
      if (now >= renewAt) {
        lease = await acquireLease(db, { name, owner, ttlMs })
        renewAt = now + (lease === undefined ? standbyMs : ttlMs / 2)
      }
      return lease !== undefined
    },
    release: async () => {
      if (lease !== undefined) await releaseLease(db, lease).catch(() => {})
    },
  }
}
