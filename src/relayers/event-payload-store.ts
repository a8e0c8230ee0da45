import { type Selectable, sql } from 'kysely'
import type { Db, RelayersTable } from '../database/schema.ts'
import type { Relayer } from './relayer.ts'
import { toRelayer } from './relayer-codec.ts'

/** A relayer at the time of an event. */
export interface RelayerSnapshot {
  readonly relayer: Relayer
  /** The number of checks that had failed in a row. */
  readonly failedChecks: number
}

/** Reads the relayers in the payloads of events, by the number of the event. */
export async function readRelayerSnapshots(
  db: Db,
  eventNumbers: readonly bigint[],
): Promise<Map<bigint, RelayerSnapshot>> {
  if (eventNumbers.length === 0) return new Map()
  // The row type of the table gives every column the type that it has there.
  const { rows } = await sql<Selectable<RelayersTable> & { event_number: bigint }>`
    select e.number as event_number, snapshot.*
    from events e, jsonb_populate_record(null::relayers, e.payload) snapshot
    where e.number = any(${eventNumbers}::bigint[])`.execute(db)
  return new Map(
    rows.map((row) => [row.event_number, { relayer: toRelayer(row), failedChecks: row.failed_checks }]),
  )
}
