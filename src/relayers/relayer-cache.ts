import type { Database, Db } from '../database/db.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { createBatcher } from '../lib/concurrency/batcher.ts'
import type { Relayer } from './relayer.ts'
import { findRelayer } from './store.ts'

/** Reads one relayer that can act; undefined if none has this id. */
export type RelayerReader = (id: string) => Promise<Relayer | undefined>

/**
 * Creates a `findRelayer` for many callers at once. Every request needs its relayer, and the embedded
 * database runs one query after the other, so callers that wait for the same relayer share the next query.
 * The query starts after they called, so the state is as fresh as that of a separate query. The reader calls
 * `prepare` before it returns a relayer: another process may have created the relayer a moment ago.
 */
function createRelayerReader(db: Db, prepare: (relayer: Relayer) => Promise<unknown>): RelayerReader {
  const read = createBatcher<string, { readonly relayer: Relayer | undefined }>({
    keyOf: (id) => id,
    maxItems: Number.POSITIVE_INFINITY,
    collectsTurn: true,
    run: async (ids) => {
      const relayer = await findRelayer(db, ids[0] ?? '')
      if (relayer !== undefined) await prepare(relayer)
      return ids.map(() => ({ relayer }))
    },
  })
  return async (id) => (await read(id)).relayer
}

/**
 * The database notifies this channel whenever a relayer changes, in anything that a `Relayer` has, or is
 * deleted.
 */
const RELAYER_ROWS_CHANNEL = 'relayer_rows_changed'

/**
 * The most relayers that are kept, about 2 kB each. The next one makes the service forget and read all of
 * them again.
 */
const MAX_COPIES = 1_000

/** A reader that remembers relayers. */
interface RelayerCache {
  readonly read: RelayerReader
  /** Call it with every notification. */
  forget(): void
}

/**
 * Remembers the relayers of a reader until one changes. A copy is as fresh as a query where a notification
 * arrives before the commit that sends it has returned, as those of the embedded database do.
 */
function createRelayerCache(read: RelayerReader): RelayerCache {
  let copies = new BoundedMap<string, Relayer>(MAX_COPIES)
  return {
    forget() {
      copies = new BoundedMap(MAX_COPIES)
    },
    async read(id) {
      const copy = copies.get(id)
      if (copy !== undefined) return copy
      // A change while it is read leaves this map behind, and what was read with it.
      const present = copies
      const relayer = await read(id)
      if (relayer === undefined) return undefined
      present.set(id, relayer)
      return relayer
    },
  }
}

interface OpenRelayerReader {
  readonly read: RelayerReader
  close(): Promise<void>
}

/**
 * Opens the reader of relayers. On the embedded database it keeps copies, because a query waits for the only
 * session. A server notifies of a change some time after its commit, when a caller may already know of it, so
 * there each read is a query.
 */
export async function openRelayerReader(
  database: Database,
  prepare: (relayer: Relayer) => Promise<unknown>,
): Promise<OpenRelayerReader> {
  const read = createRelayerReader(database.db, prepare)
  if (database.engine === 'postgres') return { read, close: async () => {} }
  const copies = createRelayerCache(read)
  return { read: copies.read, close: await database.listen(RELAYER_ROWS_CHANNEL, copies.forget) }
}
