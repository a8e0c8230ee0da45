import type { Db } from '../database/schema.ts'
import { createBatcher } from '../lib/concurrency/batcher.ts'
import type { Relayer } from './relayer.ts'
import { findRelayer } from './store.ts'

/** Reads one relayer that can act; undefined when none has this id. */
export type RelayerReader = (id: string) => Promise<Relayer | undefined>

/**
 * Creates a `findRelayer` for many callers at once. Every request asks for its relayer, and the embedded database answers one query
 * after the other, so callers that wait for the same relayer share the next query. The query starts after they asked, so the state is
 * as fresh as that of a query of their own. The reader calls `prepare` before it returns a relayer: another process may have
 * created the relayer a moment ago.
 */
export function createRelayerReader(db: Db, prepare: (relayer: Relayer) => Promise<unknown>): RelayerReader {
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
