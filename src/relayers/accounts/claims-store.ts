import { sql } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import { evmChainName } from '../../networks/network.ts'
import type { RelayerAccounts } from './accounts.ts'
import { poolIdOf } from './pool.ts'

/** A relayer, and the accounts whose nonces it is going to take. */
export interface AccountClaim extends RelayerAccounts {
  readonly relayerId: string
}

/** Returns the claims of a relayer and of its further accounts. */
export function claimsOf(
  relayerId: string,
  { chain, addresses, further = [] }: RelayerAccounts,
): AccountClaim[] {
  return [
    { relayerId, chain, addresses },
    ...further.map(({ id, address }): AccountClaim => ({ relayerId: id, chain, addresses: [address] })),
  ]
}

/** Another relayer takes the nonces of the account already. */
export class AccountInUseError extends Error {
  override readonly name = 'AccountInUseError'
  /** The relayer that was also going to take them. */
  readonly relayerId: string

  constructor({ relayerId, chain, address }: WantedAccount, owner: string) {
    super(`${address} on ${chain} is operated by relayer "${poolIdOf(owner)}" already`)
    this.relayerId = poolIdOf(relayerId)
  }
}

interface WantedAccount {
  readonly relayerId: string
  readonly chain: string
  readonly address: string
}

/**
 * Replaces the accounts of the relayers. A concurrent database transaction that needs one of them waits for
 * the end of this one.
 * @throws AccountInUseError if another relayer has one of them
 */
export async function reserveAccounts(tx: Tx, claims: readonly AccountClaim[]): Promise<void> {
  await releaseAccounts(
    tx,
    claims.map(({ relayerId }) => relayerId),
  )
  const wanted = claims.flatMap(({ relayerId, chain, addresses }) =>
    addresses.map((address) => ({ relayerId, chain, address })),
  )
  const reserved = new Set((await insertAccounts(tx, wanted)).map(nameOf))
  const taken = wanted.find((account) => !reserved.has(nameOf(account)))
  if (taken === undefined) return
  const owner = await tx
    .selectFrom('operated_accounts')
    .select('relayer_id')
    .where('chain', '=', taken.chain)
    .where('address', '=', taken.address)
    .executeTakeFirst()
  if (owner !== undefined) throw new AccountInUseError(taken, owner.relayer_id)
  // The other relayer released the account between the two statements.
  await reserveAccounts(tx, claims)
}

/** Inserts those that no relayer has, and returns them. */
async function insertAccounts(tx: Tx, wanted: readonly WantedAccount[]): Promise<WantedAccount[]> {
  // Sorted, so that two database transactions with the same accounts do not deadlock. Arrays, because a
  // statement has a limited number of parameters.
  const sorted = wanted.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const column = (name: keyof WantedAccount) => sorted.map((account) => account[name])
  const { rows } = await sql<WantedAccount>`
    insert into operated_accounts (chain, address, relayer_id)
    select * from unnest(${column('chain')}::text[], ${column('address')}::text[], ${column('relayerId')}::text[])
    on conflict (chain, address) do nothing
    returning chain, address, relayer_id as "relayerId"`.execute(tx)
  return rows
}

function nameOf({ chain, address, relayerId }: WantedAccount): string {
  return JSON.stringify([chain, address, relayerId])
}

/** Releases the accounts of these relayers for others. */
export async function releaseAccounts(tx: Tx, relayerIds: readonly string[]): Promise<void> {
  if (relayerIds.length === 0) return
  await sql`delete from operated_accounts where relayer_id = any(${[...relayerIds]}::text[])`.execute(tx)
}

/**
 * Returns the ids of the relayers that operate an address of EVM, on the chain of this id or on every one.
 */
export async function relayersOfAddress(
  db: Db,
  { address, chainId }: { readonly address: string; readonly chainId: bigint | undefined },
): Promise<string[]> {
  const claims = db.selectFrom('operated_accounts').select('relayer_id').where('address', '=', address)
  const rows = await (chainId === undefined
    ? claims
    : claims.where('chain', '=', evmChainName(chainId))
  ).execute()
  return [...new Set(rows.map(({ relayer_id }) => relayer_id))]
}
