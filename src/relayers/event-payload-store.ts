import { type Kysely, type Selectable, sql } from 'kysely'
import type { RelayersTable, Schema } from '../database/schema.ts'
import type { Relayer } from './relayer.ts'
import { toRelayer } from './relayer-codec.ts'

/** A relayer as it was when something happened to it. */
export interface RelayerSnapshot {
  readonly relayer: Relayer
  /** Checks that had failed in a row. */
  readonly failedChecks: number
}

/** The relayers that events tell of, by the id of the event. */
export async function readRelayerSnapshots(
  db: Kysely<Schema>,
  eventIds: readonly bigint[],
): Promise<Map<bigint, RelayerSnapshot>> {
  if (eventIds.length === 0) return new Map()
  // Through the table's own row type, so that every column is read as it is from the table.
  const { rows } = await sql<Selectable<RelayersTable> & { event_id: bigint }>`
    select e.id as event_id, snapshot.*
    from events e, jsonb_populate_record(null::relayers, e.payload) snapshot
    where e.id = any(${eventIds}::bigint[])`.execute(db)
  // Events of earlier releases know of no count.
  return new Map(
    rows.map((row) => [row.event_id, { relayer: toRelayer(row), failedChecks: row.failed_checks ?? 0 }]),
  )
}
