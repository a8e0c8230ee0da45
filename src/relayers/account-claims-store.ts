import type { Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { RelayerAccounts } from './accounts.ts'

/** Another relayer takes the nonces of the account already. */
export class AccountInUseError extends Error {
  override readonly name = 'AccountInUseError'

  constructor(address: string, chain: string, owner: string) {
    super(`${address} on ${chain} is operated by relayer "${owner}" already`)
  }
}

/**
 * Replaces the accounts of the relayer. A concurrent database transaction that wants one of them waits for the end of this one.
 * @throws AccountInUseError when another relayer has one of them
 */
export async function reserveAccounts(
  tx: Transaction<Schema>,
  relayerId: string,
  { chain, addresses }: RelayerAccounts,
): Promise<void> {
  await releaseAccounts(tx, [relayerId])
  const claimed = await tx
    .insertInto('operated_accounts')
    // Sorted, so that two database transactions that want the same accounts do not deadlock.
    .values(addresses.toSorted().map((address) => ({ chain, address, relayer_id: relayerId })))
    .onConflict((conflict) => conflict.columns(['chain', 'address']).doNothing())
    .returning('address')
    .execute()
  const taken = addresses.find((wanted) => !claimed.some(({ address }) => address === wanted))
  if (taken === undefined) return
  const owner = await tx
    .selectFrom('operated_accounts')
    .select('relayer_id')
    .where('chain', '=', chain)
    .where('address', '=', taken)
    .executeTakeFirst()
  if (owner !== undefined) throw new AccountInUseError(taken, chain, owner.relayer_id)
  // The other relayer released the account between the two statements.
  await reserveAccounts(tx, relayerId, { chain, addresses })
}

/** Releases the accounts of these relayers for others. */
export async function releaseAccounts(tx: Transaction<Schema>, relayerIds: readonly string[]): Promise<void> {
  if (relayerIds.length === 0) return
  await tx
    .deleteFrom('operated_accounts')
    .where('relayer_id', 'in', [...relayerIds])
    .execute()
}
