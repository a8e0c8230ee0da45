import { extendLease, type Lease } from './lease.ts'
import type { Db } from './schema.ts'

/** A lease is extended so many times before it would end, so that one slow query does not lose it. */
const EXTENSIONS = 3

/**
 * Extends the lease until the returned function is called, so that it may be short and work may be long: the lease of a process that dies
 * ends soon. An extension that fails is only missing; writes are guarded by the fence.
 */
export function keepLease(db: Db, lease: Lease, ttlMs: number): () => Promise<void> {
  let extending: Promise<void> | undefined
  const extend = async () => {
    await extendLease(db, lease, ttlMs).catch(() => false)
    extending = undefined
  }
  // The times of leases are those of the database, so the clock of the service has no part in it.
  const timer = setInterval(() => {
    extending ??= extend()
  }, ttlMs / EXTENSIONS)
  return async () => {
    clearInterval(timer)
    await extending
  }
}
