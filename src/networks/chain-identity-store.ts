import { sql } from 'kysely'
import type { Db } from '../database/db.ts'
import { type Network, type NetworkType, parseNetworkType } from './network.ts'

type NetworkName = Pick<Network, 'type' | 'name'>

/** The number of times that an operator has declared the chain of a network as reset. */
export interface ResetCount {
  readonly type: NetworkType
  readonly name: string
  readonly resets: number
}

/** Reads the networks whose chain was reset. */
export async function listResets(db: Db): Promise<ResetCount[]> {
  const rows = await db.selectFrom('chain_identities').selectAll().where('resets', '>', 0).execute()
  return rows.map((row) => ({
    type: parseNetworkType(row.network_type),
    name: row.network,
    resets: row.resets,
  }))
}

/** Reads the hash of the network's first block as the service saw it first; undefined until then. */
export async function findGenesis(db: Db, { type, name }: NetworkName): Promise<string | undefined> {
  const row = await db
    .selectFrom('chain_identities')
    .select('genesis')
    .where('network_type', '=', type)
    .where('network', '=', name)
    .executeTakeFirst()
  return row?.genesis ?? undefined
}

/** Stores the hash of the network's first block if none is stored, and returns the stored one. */
export async function rememberGenesis(db: Db, network: NetworkName, genesis: string): Promise<string> {
  const { type, name } = network
  await sql`
    insert into chain_identities (network_type, network, genesis) values (${type}, ${name}, ${genesis})
    on conflict (network_type, network) do update set genesis = excluded.genesis
    where chain_identities.genesis is null`.execute(db)
  return (await findGenesis(db, network)) ?? genesis
}

/**
 * Forgets the first block of the network's chain, and counts the reset. Every process then creates its chain
 * client again.
 */
export async function forgetChain(db: Db, { type, name }: NetworkName): Promise<void> {
  await sql`
    insert into chain_identities (network_type, network, resets) values (${type}, ${name}, 1)
    on conflict (network_type, network) do update set genesis = null, resets = chain_identities.resets + 1`.execute(
    db,
  )
  await sql`delete from token_decimals where network_type = ${type} and network = ${name}`.execute(db)
}
