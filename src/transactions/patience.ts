import type { Chain } from '../chains/chain.ts'
import type { Speed } from '../chains/speed.ts'
import type { Transaction } from './transaction.ts'

/** The level at which the service prices this by itself. A no-op of ours has no level of the caller's. */
export function levelOf({ request, intent }: Transaction): Speed {
  return (intent === 'request' && request.type === 'evm' ? request.speed : undefined) ?? 'fast'
}

/**
 * How long an attempt may wait in a pool before its fee is raised, in ms; undefined where the caller named the price,
 * which is never touched, and where content lapses instead.
 */
export function patienceMs(chain: Chain, transaction: Transaction): number | undefined {
  const { request, intent } = transaction
  if (chain.traits.lapses || request.type !== 'evm') return undefined
  const named = request.gasPrice !== undefined || request.maxFeePerGas !== undefined
  if (intent === 'request' && named) return undefined
  return chain.speed(levelOf(transaction)).raiseAfterSeconds * 1_000
}

/** What is only waited for until it lapses is watched, not worked on: no worker has to look at it before, in ms. */
export const WATCHED_MS = 3_600_000
