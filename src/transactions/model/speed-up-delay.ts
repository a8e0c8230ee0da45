import type { Chain } from '../../chains/chain.ts'
import type { Speed } from '../../chains/speed.ts'
import type { Transaction } from './transaction.ts'

/** The level at which the service prices this by itself. A no-op of ours has no level of the caller's. */
export function levelOf({ request, purpose }: Transaction): Speed {
  return (purpose === 'request' && request.type === 'evm' ? request.speed : undefined) ?? 'fast'
}

/** Whether the price is the caller's, and so never touched. A no-op of ours has no price of the caller's. */
export function isPriceNamed({ request, purpose }: Transaction): boolean {
  if (purpose !== 'request' || request.type !== 'evm') return false
  return request.gasPrice !== undefined || request.maxFeePerGas !== undefined
}

/** Whether the gas limit is the caller's. */
export function isGasNamed({ request, purpose }: Transaction): boolean {
  return purpose === 'request' && request.type === 'evm' && request.gasLimit !== undefined
}

/**
 * How long an attempt may wait in a pool before its fee is raised, in ms; undefined where the caller named the price,
 * which is never touched, and where content lapses instead.
 */
export function speedUpAfterMs(chain: Chain, transaction: Transaction): number | undefined {
  if (chain.expiry !== undefined || transaction.request.type !== 'evm' || isPriceNamed(transaction))
    return undefined
  return chain.speed(levelOf(transaction)).raiseAfterSeconds * 1_000
}

/** What is only waited for until it lapses is watched, not worked on: no worker has to look at it before, in ms. */
export const WATCHED_MS = 3_600_000
