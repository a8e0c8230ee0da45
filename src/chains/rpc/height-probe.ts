import type { Clock } from '../../lib/clock.ts'
import type { PooledClient } from './rpc.ts'

/** How often every endpoint is asked for its height, in ms. Grows with time, not with work. */
const PROBE_INTERVAL_MS = 30_000

/**
 * Questions go to one endpoint for a while, so nothing would be known of the others: whether they lag, and whether one
 * that rested is well again. Called at every look at the chain, it asks all of them now and then, and nobody waits for it.
 */
export function createHeightProbe(client: PooledClient, clock: Clock): () => void {
  let lastAt = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.now() - lastAt < PROBE_INTERVAL_MS || client.states().length < 2) return
    lastAt = clock.now()
    void client.sendEverywhere([])
  }
}
