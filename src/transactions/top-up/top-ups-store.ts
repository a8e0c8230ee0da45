import { sql } from 'kysely'
import type { Db } from '../../database/schema.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Transaction } from '../model/transaction.ts'
import { type TransactionRow, toTransaction } from '../store/codec.ts'
import { IS_OPEN } from '../store/phase-store.ts'
import { DAY_MS } from './history.ts'

/** The most top-ups that are read. Each follows the confirmation of the one before, so this many within a day are none that a person wants. */
const MOST = 10_000

/**
 * Reads the top-ups of a relayer on the present chain of its network, newest first: the newest one, the last confirmed one, those of the last
 * 24 hours, and those that are open.
 */
export async function readTopUps(
  db: Db,
  { id, network, networkType }: Pick<Relayer, 'id' | 'network' | 'networkType'>,
  now: number,
): Promise<Transaction[]> {
  const since = new Date(now - DAY_MS)
  const own = sql`top_up_of = ${id} and network = ${network} and reset_at is null and request->>'type' = ${networkType}`
  const { rows } = await sql<TransactionRow>`
    select * from transactions
    where ${own} and (
      ${IS_OPEN} or coalesce(confirmed_at, created_at) >= ${since}
      or reorganized_at is not null
      or position = (select max(position) from transactions where ${own})
      or position = (select max(position) from transactions where ${own} and phase = 'confirmed'))
    order by position desc limit ${MOST}`.execute(db)
  return rows.map(toTransaction)
}

/** Reads the ids of the relayers that another one fills, without the paused ones. */
export async function listFilled(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from relayers where removed_at is null and not paused and policies->'topUp' is not null order by id`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}
