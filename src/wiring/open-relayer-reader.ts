import type { Database } from '../database/engine.ts'
import { keepCopies, RELAYER_ROWS_CHANNEL } from '../relayers/copies.ts'
import { createRelayerReader, type RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'

interface OpenRelayerReader {
  readonly read: RelayerReader
  close(): Promise<void>
}

/**
 * Opens the reader of relayers. On the embedded database it keeps copies, because a query waits for the only session. A server tells of a change
 * some time after its commit, when a caller may know of it already, so there each read is a query.
 */
export async function openRelayerReader(
  database: Database,
  prepare: (relayer: Relayer) => Promise<unknown>,
): Promise<OpenRelayerReader> {
  const read = createRelayerReader(database.requests, prepare)
  if (database.engine === 'postgres') return { read, close: async () => {} }
  const copies = keepCopies(read)
  return { read: copies.read, close: await database.listen(RELAYER_ROWS_CHANNEL, copies.forget) }
}
