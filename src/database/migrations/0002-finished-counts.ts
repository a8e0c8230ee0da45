import { type Kysely, sql } from 'kysely'

/**
 * Adds the number of final transactions by status, because counting them for each list takes longer with a longer history, and limits the
 * index for lists of one status to final transactions.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table finished_counts (
      relayer_id text not null references relayers (id),
      status text not null,
      count bigint not null,
      primary key (relayer_id, status)
    )`.execute(db)
  await sql`
    insert into finished_counts (relayer_id, status, count)
    select relayer_id, status, count(*) from transactions
    where status not in ('pending', 'sent', 'submitted', 'mined')
    group by relayer_id, status`.execute(db)
  // Open transactions have their own index; a row in both indexes would cost twice at every update.
  await sql`drop index transactions_by_status`.execute(db)
  await sql`
    create index transactions_final on transactions (relayer_id, status, position)
    where status not in ('pending', 'sent', 'submitted', 'mined')`.execute(db)
}
