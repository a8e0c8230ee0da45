import type { Actor } from '../../access/principal.ts'
import { AppError } from '../../errors.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { measureQueue, type QueueLength } from '../store/queue-store.ts'

/** Transactions that ask for a place in the queue. */
export interface Arrival {
  readonly actor: Actor
  /** The number of transactions of the request. */
  readonly count: number
  /** The longest wait that the caller allows, besides the policy. */
  readonly maxQueueSeconds?: number | undefined
}

/**
 * Returns the error of a request that would have to wait longer for its turn than the policy
 * `max_queue_seconds`, or the caller, allows: 429 `rate_limited`, or `invalid_request` for a batch that is
 * too large for any queue. Undefined if it may wait. Without either limit it costs no query.
 */
export async function queueProblem(
  { db, clock, maxInFlight, runtimeOf }: TransactionsContext,
  relayer: Relayer,
  { actor, count, ...allowed }: Arrival,
): Promise<AppError | undefined> {
  const { fairShare } = relayer.policies
  const maxQueueSeconds = Math.min(
    relayer.policies.maxQueueSeconds ?? Number.POSITIVE_INFINITY,
    allowed.maxQueueSeconds ?? Number.POSITIVE_INFINITY,
  )
  if (maxQueueSeconds === Number.POSITIVE_INFINITY) return undefined
  const { chain, network, sourceAccounts } = runtimeOf(relayer)
  const slots = (chain.sequencing?.maxInFlight ?? maxInFlight) * sourceAccounts.length
  const queue = {
    blockSeconds: network.averageBlocktimeMs / 1_000,
    slots,
    maxQueueSeconds,
    now: clock.now(),
  }
  const most = mostWaiting(queue)
  if (count > most)
    return new AppError(
      'invalid_request',
      `body.transactions: at most ${most} are expected, not ${count}: more cannot be sent within ${maxQueueSeconds} s (max_queue_seconds).`,
    )
  const length = await measureQueue(db, {
    relayerId: relayer.id,
    sender: fairShare === true ? actor.keyId : undefined,
    now: new Date(queue.now),
    limit: most + 1,
  })
  const retryAfterSeconds = waitBefore(queue, { ...length, count: length.count + count })
  if (retryAfterSeconds === undefined) return undefined
  return new AppError(
    'rate_limited',
    `Relayer ${poolIdOf(relayer.id)} has too many waiting transactions to send this within ${maxQueueSeconds} s (max_queue_seconds). Nothing was stored; try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  )
}

/** The speed of an account, and how long its queue may be. */
interface Queue {
  readonly blockSeconds: number
  /** The transactions that can be in flight at a time, all of which a block can include. */
  readonly slots: number
  readonly maxQueueSeconds: number
  /** In ms since the epoch. */
  readonly now: number
}

/** Returns the most transactions that blocks can include within the time, each with a full set. Pure. */
export function mostWaiting({ blockSeconds, slots, maxQueueSeconds }: Queue): number {
  return Math.max(slots, Math.floor((maxQueueSeconds / blockSeconds) * slots))
}

/**
 * Returns the seconds after which a refused request may try again; undefined if the queue is short enough. It
 * is too long if even full blocks could not include it in time, or if the oldest transaction has waited for
 * that long, because blocks are not that full. Pure.
 */
export function waitBefore(queue: Queue, { count, oldestAt }: QueueLength): number | undefined {
  const excess = count - mostWaiting(queue)
  if (excess > 0) return Math.ceil(Math.max(1, (excess / queue.slots) * queue.blockSeconds))
  const isOld = oldestAt !== undefined && queue.now - oldestAt.getTime() > queue.maxQueueSeconds * 1_000
  return isOld ? Math.ceil(Math.max(1, queue.blockSeconds)) : undefined
}
