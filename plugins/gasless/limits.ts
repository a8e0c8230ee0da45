import { isRecord, locked, type World } from '../shared/host.ts'
import { digest } from '../shared/transactions.ts'
import type { Limit, Settings } from './config.ts'
import { RpcError } from './errors.ts'

/** What the service puts in place of the id of an API key where callers need none. */
const NO_KEY = '(anonymous)'

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
  for (const limit of limits) {
    if (limit.per === 'open' && counted.caller !== NO_KEY) continue
    for (const who of countedTogether(limit, counted)) await count(limit, { ...counted, who }, world)
  }
}

function countedTogether({ per }: Limit, { caller, users }: Counted): readonly string[] {
  if (per === 'user') return users.map((user) => `${caller} ${user}`)
  return per === 'key' ? [caller] : ['']
}

/** Counters are kept in so many values, because the service keeps a limited number for a plugin. */
const SHARD_DIGITS = 2

async function count(
  limit: Limit,
  { who, users, gas }: Counted & { readonly who: string },
  world: World,
): Promise<void> {
  const { per, windowSeconds } = limit
  const name = digest([who])
  // Windows begin at multiples of their length since 1970, in all processes at once.
  const window = Math.floor(world.now() / 1000 / windowSeconds)
  const key = `count:${per}:${windowSeconds}:${window}:${name.slice(0, SHARD_DIGITS)}`
  const entry = name.slice(0, 24)
  const share = per === 'user' ? gas / BigInt(users.length) : gas
  await locked(world, `${key}:lock`, async () => {
    const value = await world.kv.get(key)
    const counts = isRecord(value) ? value : {}
    const { requests, gas: used } = countIn(counts[entry])
    const next = { requests: requests + 1, gas: used + share }
    const isBeyond =
      (limit.requests !== undefined && next.requests > limit.requests) ||
      (limit.gas !== undefined && next.gas > limit.gas)
    if (isBeyond)
      throw new RpcError(
        'rateLimit',
        `The limit per ${per} in ${windowSeconds} seconds is reached. Try again in a later window.`,
      )
    await world.kv.set(
      key,
      { ...counts, [entry]: [next.requests, next.gas.toString()] },
      { ttlSec: windowSeconds },
    )
  })
}

function countIn(value: unknown): { readonly requests: number; readonly gas: bigint } {
  const [requests, gas] = Array.isArray(value) ? value : [0, '0']
  return { requests: Number(requests), gas: BigInt(String(gas)) }
}
