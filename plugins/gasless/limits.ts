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
  /** True if it creates the account of its user. */
  readonly isCreating: boolean
}

const DAY_SECONDS = 86_400

/**
 * Counts a request for every limit that applies to it. A request that is refused afterwards stays counted: a
 * limit may be reached too early, never too late. @throws RpcError `rateLimit`
 */
export async function countRequest(
  counted: Counted,
  { limits, maxCreations }: Pick<Settings, 'limits' | 'maxCreations'>,
  world: World,
): Promise<void> {
  const { caller, users, gas, isCreating } = counted
  if (isCreating) await countCreation(caller, maxCreations, world)
  for (const limit of limits) {
    if (!counts(limit, caller)) continue
    const amount = limit.per === 'user' ? gas / BigInt(users.length) : gas
    for (const who of countedTogether(limit, counted)) await countIn(limit, { who, amount, beyond }, world)
  }
}

/** Accounts are free, so those that one API key has created for them are counted together. */
async function countCreation(caller: string, times: number, world: World): Promise<void> {
  const limit = { per: 'creation', windowSeconds: DAY_SECONDS, times, amount: undefined }
  const tooMany = () =>
    new RpcError(
      'rateLimit',
      `At most ${times} accounts are created for one API key in a day. Try again tomorrow.`,
    )
  await countIn(limit, { who: [caller], amount: 0n, beyond: tooMany }, world)
}

function beyond(message: string): RpcError {
  return new RpcError('rateLimit', `${message} Try again in a later window.`)
}

function countedTogether({ per }: Limit, { caller, users }: Counted): readonly (readonly string[])[] {
  if (per === 'user') return users.map((user) => [caller, user])
  return [per === 'key' ? [caller] : []]
}
