import type { Lease } from '../../database/lease.ts'
import type { RelayerRuntime } from '../model/runtime.ts'

type Counters = ReadonlyMap<string, bigint>

/** Counters that this process has stored, and the lease under which it did. */
interface Known {
  readonly counters: Counters
  readonly lease: Lease
}

/** By the source accounts of a runtime, which stay the same object as long as the relayer has them. */
const known = new WeakMap<RelayerRuntime['sourceAccounts'], Known>()

/**
 * Takes the nonce counters of a relayer as this process stored them last, so that the next step needs no query for them. Undefined when another
 * process had the lease since, because it may have moved them. Whoever plans with them compares them under a lock before it stores the plan;
 * they are taken, so a step that fails, whatever was stored, makes the next one read them.
 */
export function takeKnownCounters({ sourceAccounts }: RelayerRuntime, lease: Lease): Counters | undefined {
  const found = known.get(sourceAccounts)
  known.delete(sourceAccounts)
  return found !== undefined && isSameTenure(found.lease, lease) ? found.counters : undefined
}

/** Keeps counters that are committed. */
export function keepKnownCounters(
  { sourceAccounts }: RelayerRuntime,
  { counters, lease }: { readonly counters: Counters; readonly lease: Lease },
): void {
  known.set(sourceAccounts, { counters, lease })
}

/** The fence grows with each new owner. */
function isSameTenure(one: Lease, other: Lease): boolean {
  return one.name === other.name && one.owner === other.owner && one.fence === other.fence
}
