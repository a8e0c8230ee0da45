import type { Kysely } from 'kysely'
import { acquireLease, type Lease, releaseLease } from '../database/lease.ts'
import type { Schema } from '../database/schema.ts'
import type { Clock } from '../lib/clock.ts'

interface LeaseHolderOptions {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  /** Identifies this process in leases. */
  readonly owner: string
  readonly name: string
  /** How long it is ours without being asked for again, in ms. */
  readonly ttlMs: number
  /** How often it is asked for while somebody else has it, in ms. Default: whenever we are asked. */
  readonly standbyMs?: number
}

/** A lease that is renewed in time; asking whether it is ours is cheap while it lasts. */
export interface LeaseHolder {
  ask(): Promise<boolean>
  giveUp(): Promise<void>
}

export function createLeaseHolder(options: LeaseHolderOptions): LeaseHolder {
  const { db, clock, owner, name, ttlMs, standbyMs = 0 } = options
  let lease: Lease | undefined
  let askAgainAt = 0
  return {
    ask: async () => {
      const now = clock.now()
      if (now >= askAgainAt) {
        lease = await acquireLease(db, { name, owner, ttlMs })
        askAgainAt = now + (lease === undefined ? standbyMs : ttlMs / 2)
      }
      return lease !== undefined
    },
    giveUp: async () => {
      if (lease !== undefined) await releaseLease(db, lease)
    },
  }
}
