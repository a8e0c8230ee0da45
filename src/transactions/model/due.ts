import type { NamedByCaller } from '../../chains/capabilities.ts'
import type { Chain } from '../../chains/chain.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Speed } from '../../chains/speed.ts'
import type { Transaction } from './transaction.ts'

/**
 * The longest time in ms for which a transaction waits. A later `nextRunAt` was written while the clock was
 * ahead, so the transaction is due: otherwise its account would be blocked until the clock gets there.
 */
export const LONGEST_WAIT_MS = 300_000

/**
 * Time in ms until a transaction that waits for a price is compared with the market again: about a block of
 * Ethereum. With less, many cheap transactions query the nodes constantly; with more, they miss a short dip
 * of the market.
 */
export const PRICE_WAIT_MS = 10_000

/**
 * Returns true if the transaction may run now. One that has never waited is due regardless of the clock.
 * Pure.
 */
export function isDue(
  { nextRunAt, createdAt, status }: Pick<Transaction, 'nextRunAt' | 'createdAt' | 'status'>,
  now: number,
): boolean {
  const at = nextRunAt.getTime()
  if (at <= now || at > now + LONGEST_WAIT_MS) return true
  return status === 'pending' && at === createdAt.getTime()
}

/**
 * Returns the request with the end of its time: it expires then, or no longer waits for a lower fee. Pure.
 */
export function withEnd<Request extends ChainRequest>(request: Request, end: Date): Request {
  const { when } = request
  return when?.atEnd === 'send'
    ? { ...request, when: { ...when, until: end } }
    : { ...request, validUntil: end }
}

/** Returns true if nothing of the request may be signed yet. Pure. */
export function isForLater({ validFrom }: Pick<ChainRequest, 'validFrom'>, now: number): boolean {
  return validFrom !== undefined && validFrom.getTime() > now
}

/**
 * Returns true while the transaction waits for its `validFrom`, or for another transaction: it reserves
 * nothing, and others overtake it. Once it has a nonce or signed bytes it does not wait again, regardless of the clock. Pure.
 */
export function isScheduled(
  {
    request,
    status,
    nonce,
    awaitsTransaction,
  }: Pick<Transaction, 'request' | 'status' | 'nonce' | 'awaitsTransaction'>,
  now: number,
): boolean {
  return (
    (isForLater(request, now) || awaitsTransaction !== undefined) &&
    status === 'pending' &&
    nonce === undefined
  )
}

/**
 * Returns the time since which the service works on the transaction: that of its acceptance, its later
 * `validFrom`, or the later end of its wait for another one. Pure.
 */
export function startsAt({
  createdAt,
  releasedAt = createdAt,
  request: { validFrom = createdAt },
}: Pick<Transaction, 'createdAt' | 'releasedAt' | 'request'>): Date {
  return new Date(Math.max(createdAt.getTime(), validFrom.getTime(), releasedAt.getTime()))
}

/**
 * The speed level that prices this transaction. A no-op of the service ignores the level that the caller
 * named.
 */
export function levelOf({ request, purpose }: Transaction): Speed {
  return (purpose === 'request' ? namedIn(request)?.speed : undefined) ?? 'fast'
}

/**
 * The caller named the price, so the service never changes it. A no-op of the service never has the price of
 * the caller.
 */
export function isPriceNamed({ request, purpose }: Transaction): boolean {
  return purpose === 'request' && namedIn(request)?.price === true
}

function namedIn(request: ChainRequest): NamedByCaller | undefined {
  return FAMILIES[request.type].content.named?.(request)
}

/** The caller named the gas limit, so the service never estimates it. */
export function isGasNamed({ request, purpose }: Transaction): boolean {
  return purpose === 'request' && namedIn(request)?.gasLimit === true
}

/**
 * Time in ms that an attempt may wait in a mempool before its fee is raised. It is undefined if the caller
 * named the price, which the service never changes, and on chains where signed bytes expire instead.
 */
export function speedUpAfterMs(chain: Chain, transaction: Transaction): number | undefined {
  if (chain.expiry !== undefined || isPriceNamed(transaction)) return undefined
  return chain.speed(levelOf(transaction)).raiseAfterSeconds * 1_000
}

/**
 * Delay in ms for a transaction that only waits for its bytes to expire. The watcher follows it, so the
 * submitter has nothing to do and sets the same delay again. It is not above `LONGEST_WAIT_MS`.
 */
export const WATCHED_MS = 240_000
