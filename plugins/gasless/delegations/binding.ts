import type { Hex } from 'viem'
import { isRecord, locked, type World } from '../../shared/host.ts'
import { digest } from '../../shared/transactions.ts'
import { NO_KEY } from '../../shared/windows.ts'
import { RpcError } from '../errors.ts'

/** A delegation stays with its API key for so long after its last use, in seconds. */
const BOUND_SECONDS = 90 * 86_400

/** The service keeps a limited number of values for a plugin, so each has many delegations. */
const SHARD_DIGITS = 2
const MAX_OF_SHARD = 1_000

/**
 * Requires that a delegation is used by the API key that used it first: after that, it is in a block where
 * anyone can read it, and it is the relayer who may use it. @throws RpcError
 */
export async function bindDelegation(
  hash: Hex,
  { chainId, caller }: { readonly chainId: number; readonly caller: string },
  world: World,
): Promise<void> {
  if (caller === NO_KEY)
    throw new RpcError('rejected', 'data: a delegation is used with an API key, to which it then belongs.')
  const name = digest([String(chainId), hash])
  const key = `delegations:${name.slice(0, SHARD_DIGITS)}`
  const entry = name.slice(SHARD_DIGITS, SHARD_DIGITS + 24)
  const owner = digest([caller]).slice(0, 24)
  const now = Math.floor(world.now() / 1000)
  await locked(world, `${key}:lock`, async () => {
    const value = await world.kv.get(key)
    const entries = Object.entries(isRecord(value) ? value : {}).map(
      ([of, bound]) => [of, boundOf(bound)] as const,
    )
    const known = new Map(entries.filter(([, { at }]) => now - at < BOUND_SECONDS))
    const bound = known.get(entry)
    if (bound !== undefined && bound.owner !== owner)
      throw new RpcError('rejected', 'data: another API key has brought this delegation.')
    if (bound === undefined && known.size >= MAX_OF_SHARD)
      throw new RpcError('rateLimit', 'data: too many delegations are in use. Try again later.')
    known.set(entry, { owner, at: now })
    const kept = Object.fromEntries([...known].map(([of, { owner: by, at }]) => [of, [by, at]]))
    await world.kv.set(key, kept, { ttlSec: BOUND_SECONDS })
  })
}

function boundOf(value: unknown): { readonly owner: string; readonly at: number } {
  const [owner, at] = Array.isArray(value) ? value : ['', 0]
  return { owner: String(owner), at: Number(at) }
}
