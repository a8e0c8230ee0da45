import type { Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { RelayerAccounts } from './accounts.ts'

/** Two relayers may not take nonces of one account. */
export class AccountInUseError extends Error {
  override readonly name = 'AccountInUseError'

  constructor(address: string, chain: string, owner: string) {
    super(`${address} on ${chain} is operated by relayer "${owner}" already`)
  }
}

/**
 * Makes these the accounts of the relayer, and no others. A second database transaction that wants one of them waits for
 * this one to end.
 * @throws AccountTakenError when another relayer has one of them
 */
export async function reserveAccounts(
  tx: Transaction<Schema>,
  relayerId: string,
  { chain, addresses }: RelayerAccounts,
): Promise<void> {
  await releaseAccounts(tx, [relayerId])
  const claimed = await tx
    .insertInto('operated_accounts')
    // In one order, so that two who want the same ones do not wait for each other.
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
  // Given up at this very moment.
  await reserveAccounts(tx, relayerId, { chain, addresses })
}

/** Others may have the accounts of these relayers now. */
export async function releaseAccounts(tx: Transaction<Schema>, relayerIds: readonly string[]): Promise<void> {
  if (relayerIds.length === 0) return
  await tx
    .deleteFrom('operated_accounts')
    .where('relayer_id', 'in', [...relayerIds])
    .execute()
}
