import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { Speed } from '../../speed.ts'
import { fieldsOf, readInteger, resultOf } from '../read/replies.ts'
import { SPEEDS } from '../speed.ts'
import { accountsOf } from '../wire/accounts.ts'
import type { Message } from '../wire/message.ts'

/** The percentile of the recent prices for each speed. Blocks in which nobody paid count as 0. */
const PERCENTILES: Readonly<Record<Speed, number>> = { safeLow: 30, average: 50, fast: 85, fastest: 99 }

/** The highest number of accounts of one question (agave `MAX_TX_ACCOUNT_LOCKS`). */
const MAX_ACCOUNTS = 128

/**
 * Reads the market price for priority, in micro-lamports for each compute unit. Blocks fill up by account, so the price is that of recent
 * blocks which wrote to the same accounts.
 */
export async function askPrice(
  client: PooledClient,
  message: Message,
  speed: Speed,
): Promise<Answer<bigint>> {
  const writable = accountsOf(message)
    .filter((account) => account.writable)
    .map(({ address }) => address)
  const reply = await client.call('getRecentPrioritizationFees', [writable.slice(0, MAX_ACCOUNTS)])
  // Not every provider offers the method. Without an answer the service pays nothing for priority, and prices the transaction again after
  // it expires.
  if (reply.kind === 'error') return { kind: 'ok', value: 0n }
  const result = resultOf(reply)
  if (result.kind !== 'ok') return result
  const fees = readFees(result.value)
  if (fees === undefined) return { kind: 'unknown', detail: 'the endpoint did not answer with prices' }
  return { kind: 'ok', value: priceFor(fees, speed) }
}

/** Returns the price for the speed, from the lowest prices that recent blocks accepted. */
export function priceFor(fees: readonly bigint[], speed: Speed): bigint {
  const sorted = [...fees].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const rank = Math.min(sorted.length - 1, Math.floor((sorted.length * PERCENTILES[speed]) / 100))
  const hundredths = BigInt(Math.round(SPEEDS[speed].priceMultiplier * 100))
  return ((sorted[rank] ?? 0n) * hundredths) / 100n
}

function readFees(value: unknown): bigint[] | undefined {
  if (!Array.isArray(value)) return undefined
  const fees = value.map((entry) => readInteger(fieldsOf(entry).prioritizationFee))
  return fees.every((fee) => fee !== undefined) ? fees : undefined
}
