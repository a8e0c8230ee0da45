import type { World } from '../shared/host.ts'
import { countIn, counts } from '../shared/windows.ts'
import type { Limit, Settings } from './config.ts'
import { RpcError } from './errors.ts'

/** A request that is about to be sent. */
export interface Counted {
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
  readonly users: readonly string[]
  /** The gas limit that is signed. */
  readonly gas: bigint
}

/**
 * Counts a request for every limit that applies to it. A request that is refused afterwards stays counted: a
 * limit may be reached too early, never too late. @throws RpcError `rateLimit`
 */
export async function countRequest(
  counted: Counted,
  { limits }: Pick<Settings, 'limits'>,
  world: World,
): Promise<void> {
  const { caller, users, gas } = counted
  for (const limit of limits) {
    if (!counts(limit, caller)) continue
    const amount = limit.per === 'user' ? gas / BigInt(users.length) : gas
    for (const who of countedTogether(limit, counted)) await countIn(limit, { who, amount, beyond }, world)
  }
}

function beyond(message: string): RpcError {
  return new RpcError('rateLimit', `${message} Try again in a later window.`)
}

function countedTogether({ per }: Limit, { caller, users }: Counted): readonly (readonly string[])[] {
  if (per === 'user') return users.map((user) => [caller, user])
  return [per === 'key' ? [caller] : []]
}
