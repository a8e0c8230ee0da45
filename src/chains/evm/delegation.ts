import type { Clock } from '../../lib/time/clock.ts'
import type { RpcClient } from '../rpc/rpc.ts'

/** The code of a delegated account begins with this prefix (EIP-7702). */
const DELEGATION = /^0xef0100/i

/** An answer counts for this long, in ms. A delegation that is noticed later than it happened only costs refused broadcasts. */
const FRESH_MS = 60_000

/**
 * Returns a reader of how many transactions of an account pools keep at the same time: one for a delegated account, because its code can
 * move its money and invalidate all waiting transactions (`core/txpool/legacypool` of geth). It returns undefined for no limit, and when no
 * node answers.
 */
export function createInFlightLimits(
  client: RpcClient,
  clock: Clock,
): (address: string) => Promise<number | undefined> {
  const known = new Map<string, { readonly limit: number | undefined; readonly until: number }>()
  return async (address) => {
    const before = known.get(address)
    if (before !== undefined && clock.monotonic() < before.until) return before.limit
    const reply = await client.call('eth_getCode', [address, 'latest'])
    if (reply.kind !== 'result' || typeof reply.result !== 'string') return before?.limit
    const limit = DELEGATION.test(reply.result) ? 1 : undefined
    known.set(address, { limit, until: clock.monotonic() + FRESH_MS })
    return limit
  }
}
