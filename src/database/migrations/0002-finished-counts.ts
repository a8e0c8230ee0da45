import { type Kysely, sql } from 'kysely'

/**
 * How many transactions of a relayer ended in which status, as counting them for each list takes longer with each of them;
 * and the index for lists of one status limited to final ones.
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
  // Open ones have an index of their own; a row in both pays twice for every step of its life.
  await sql`drop index transactions_by_status`.execute(db)
  await sql`
    create index transactions_final on transactions (relayer_id, status, position)
    where status not in ('pending', 'sent', 'submitted', 'mined')`.execute(db)
}
