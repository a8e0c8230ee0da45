import type { Clock } from '../../lib/clock.ts'
import type { RpcClient } from '../rpc/rpc.ts'

/** EIP-7702: the code of an account that was delegated begins so. */
const DELEGATION = /^0xef0100/i

/** How long an answer counts, in ms. A delegation that is noticed so late costs refused offers until then, and nothing else. */
const FRESH_MS = 60_000

/**
 * How many transactions of an account pools hold at the same time: one, where its code can move its money and so spoil all that wait
 * (`core/txpool/legacypool` of geth, since EIP-7702). Undefined where there is no such limit, or nobody tells.
 */
export function createInFlightLimits(
  client: RpcClient,
  clock: Clock,
): (address: string) => Promise<number | undefined> {
  const known = new Map<string, { readonly limit: number | undefined; readonly until: number }>()
  return async (address) => {
    const before = known.get(address)
    if (before !== undefined && clock.now() < before.until) return before.limit
    const reply = await client.call('eth_getCode', [address, 'latest'])
    if (reply.kind !== 'result' || typeof reply.result !== 'string') return before?.limit
    const limit = DELEGATION.test(reply.result) ? 1 : undefined
    known.set(address, { limit, until: clock.now() + FRESH_MS })
    return limit
  }
}
