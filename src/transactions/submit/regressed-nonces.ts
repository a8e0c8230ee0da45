import type { Chain } from '../../chains/chain.ts'
import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'
import { findConfirmedNonces } from '../store/nonce-store.ts'

/** The next nonces that a chain gave last, by address. While they do not fall, no query is needed. */
const seen = new WeakMap<Chain, Map<string, bigint>>()

/**
 * Finds the source accounts whose next nonce on the chain belongs to a confirmed transaction. The chain was reset, or the endpoint lags far
 * behind, so no nonce can be assigned.
 */
export async function findRegressedNonces(
  { db, log }: TransactionsContext,
  { relayer, runtime: { chain } }: LeasedAccount,
  next: ReadonlyMap<string, bigint>,
): Promise<ReadonlySet<string>> {
  const highest = seen.get(chain) ?? new Map<string, bigint>()
  seen.set(chain, highest)
  const suspects = [...next].filter(([address, nonce]) => nonce < (highest.get(address) ?? nonce + 1n))
  const confirmed = await findConfirmedNonces(
    db,
    relayer,
    suspects.map(([address]) => address),
  )
  const regressed = new Set(
    suspects.flatMap(([address, nonce]) => {
      const last = confirmed.get(address)
      return last !== undefined && nonce <= last ? [address] : []
    }),
  )
  for (const [address, nonce] of next) if (!regressed.has(address)) highest.set(address, nonce)
  if (regressed.size > 0)
    log.warn(
      { relayer: relayer.id, accounts: [...regressed] },
      'next nonce on the chain belongs to a confirmed transaction; nothing signed',
    )
  return regressed
}
