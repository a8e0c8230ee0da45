import type { StellarRequest } from '../content.ts'
import { maxTimeOf, openEnvelope } from '../model/envelope.ts'

/**
 * Returns the time after which the caller no longer wants the transaction: its own limit or that of its prebuilt transaction, whichever is
 * earlier.
 */
export function endsAt({ validUntil, transactionXdr }: StellarRequest): Date | undefined {
  const maxTime = transactionXdr === undefined ? undefined : maxTimeOf(openEnvelope(transactionXdr).tx)
  if (maxTime === undefined) return validUntil
  const own = new Date(Number(maxTime) * 1_000)
  return validUntil !== undefined && validUntil < own ? validUntil : own
}
