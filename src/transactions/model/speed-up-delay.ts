import type { Chain } from '../../chains/chain.ts'
import type { Speed } from '../../chains/speed.ts'
import type { Transaction } from './transaction.ts'

/** The speed level that prices this transaction. A no-op of the service ignores the level that the caller named. */
export function levelOf({ request, purpose }: Transaction): Speed {
  return (purpose === 'request' && request.type === 'evm' ? request.speed : undefined) ?? 'fast'
}

/** The caller named the price, so the service never changes it. A no-op of the service never has the price of the caller. */
export function isPriceNamed({ request, purpose }: Transaction): boolean {
  if (purpose !== 'request' || request.type !== 'evm') return false
  return request.gasPrice !== undefined || request.maxFeePerGas !== undefined
}

/** The caller named the gas limit, so the service never estimates it. */
export function isGasNamed({ request, purpose }: Transaction): boolean {
  return purpose === 'request' && request.type === 'evm' && request.gasLimit !== undefined
}

/**
 * Time in ms that an attempt may wait in a mempool before its fee is raised. It is undefined when the caller named the price, which the
 * service never changes, and on chains where signed bytes expire instead.
 */
export function speedUpAfterMs(chain: Chain, transaction: Transaction): number | undefined {
  if (chain.expiry !== undefined || transaction.request.type !== 'evm' || isPriceNamed(transaction))
    return undefined
  return chain.speed(levelOf(transaction)).raiseAfterSeconds * 1_000
}

/**
 * Delay in ms for a transaction that only waits for its bytes to expire. The watcher follows it, so the submitter has nothing to do and sets
 * the same delay again. It is not above `LONGEST_WAIT_MS`.
 */
export const WATCHED_MS = 240_000
