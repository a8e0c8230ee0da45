import type { Attempt } from '../../chains/attempt.ts'
import type { Db } from '../../database/schema.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { findHashOwners } from '../../transactions/store/attempts-store.ts'
import { findTransactions } from '../../transactions/store/read-store.ts'

/** Finds the transactions of this relayer that have an attempt with one of the hashes, by the hash in lower case. */
export async function findByHash(
  db: Db,
  { id }: Relayer,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, TransactionWithAttempts>> {
  if (hashes.length === 0) return new Map()
  const owners = await findHashOwners(
    db,
    hashes.map((hash) => hash.toLowerCase()),
  )
  const found = await findTransactions(db, id, [...new Set(owners.values())])
  const byId = new Map(found.map((item) => [item.transaction.id, item]))
  return new Map(
    [...owners].flatMap(([hash, owner]) => {
      const item = byId.get(owner)
      return item === undefined ? [] : [[hash, item] as const]
    }),
  )
}

/** The attempt that the chain includes; undefined while it includes none. */
export function includedAttempt({ attempts }: TransactionWithAttempts): Attempt | undefined {
  return attempts.find(({ outcome }) => outcome === 'mined' || outcome === 'reverted')
}
