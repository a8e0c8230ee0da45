import { sql } from 'kysely'
import type { Db, Tx } from '../database/db.ts'

/** Spenders, and receivers on one network. */
export interface Receivers {
  /** `key:<id>` or `relayer:<id>`. */
  readonly subjects: readonly string[]
  /** By type and name. */
  readonly network: string
  readonly receivers: readonly string[]
}

/** Returns true if an approved transaction of the spender has paid the receiver. */
export type IsKnown = (subject: string, receiver: string) => boolean

/** Finds out which of the receivers approved transactions of the spenders have paid. */
export async function findKnownReceivers(
  db: Db,
  { subjects, network, receivers }: Receivers,
): Promise<IsKnown> {
  if (subjects.length === 0 || receivers.length === 0) return () => false
  const rows = await db
    .selectFrom('known_receivers')
    .select(['subject', 'receiver'])
    .where(sql<boolean>`subject = any(${subjects}::text[])`)
    .where('network', '=', network)
    .where(sql<boolean>`receiver = any(${receivers}::text[])`)
    .execute()
  const known = new Set(rows.map(({ subject, receiver }) => keyOf(subject, receiver)))
  return (subject, receiver) => known.has(keyOf(subject, receiver))
}

function keyOf(subject: string, receiver: string): string {
  return JSON.stringify([subject, receiver])
}

/** Remembers that a transaction to the receivers was approved. */
export async function insertKnownReceivers(
  tx: Tx,
  { subjects, network, receivers }: Receivers,
): Promise<void> {
  const rows = subjects.flatMap((subject) => receivers.map((receiver) => ({ subject, network, receiver })))
  if (rows.length === 0) return
  await sql`
    insert into known_receivers (subject, network, receiver)
    select subject, network, receiver from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as known (subject text, network text, receiver text)
    order by subject, receiver
    on conflict do nothing`.execute(tx)
}
