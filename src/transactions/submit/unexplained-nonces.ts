import type { Db } from '../../database/schema.ts'
import type { UnexplainedNonces } from '../../relayers/health/health.ts'
import { sharesAccount } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { raiseKnownNonce } from '../../relayers/store.ts'
import { findExplainedNonces } from '../store/nonce-store.ts'
import type { AccountCapacity } from './plan-nonces.ts'

interface Accounts {
  readonly sourceAccounts: readonly Pick<AccountCapacity, 'address' | 'chainNonce'>[]
  /** The next nonces to assign, by address, where the caller knows them: an account that is not ahead of its counter needs no query. */
  readonly counters?: ReadonlyMap<string, bigint>
}

/**
 * Finds the accounts whose chain is ahead of the records: nonces were used by transactions that this database does not know. The service
 * stores what it signs before anybody gets it (I3), so another program has the key, or the database went back in time: it was restored from a
 * backup, or a standby without its last commits took over. Whatever is pending may be paid already then. Read the nonces of the chain before
 * the call. An account that is seen for the first time starts with what it has used.
 */
export async function findUnexplained(
  { db }: { readonly db: Db },
  relayer: Relayer,
  { sourceAccounts, counters }: Accounts,
): Promise<UnexplainedNonces[]> {
  if (sharesAccount(relayer)) return []
  const suspects = sourceAccounts.filter(
    ({ address, chainNonce }) => !isWithin(chainNonce, counters?.get(address)),
  )
  if (suspects.length === 0) return []
  const explained = await findExplainedNonces(
    db,
    relayer,
    suspects.map(({ address }) => address),
  )
  const unexplained: UnexplainedNonces[] = []
  for (const { address, chainNonce } of suspects) {
    const known = explained.get(address)
    if (known === undefined) await raiseKnownNonce(db, { relayerId: relayer.id, address, nonce: chainNonce })
    else if (chainNonce > known) unexplained.push({ address, chainNonce, explained: known })
  }
  return unexplained
}

function isWithin(chainNonce: bigint, counter: bigint | undefined): boolean {
  return counter !== undefined && chainNonce <= counter
}
