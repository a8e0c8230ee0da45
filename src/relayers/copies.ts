import type { RelayerReader } from './read.ts'
import type { Relayer } from './relayer.ts'

/** The database notifies this channel whenever a relayer changes, in anything that a `Relayer` has, or is deleted. */
export const RELAYER_ROWS_CHANNEL = 'relayer_rows_changed'

/** The most relayers that are kept, about 2 kB each. The next one makes the service forget and read all of them again. */
const MAX_COPIES = 1_000

/** A reader that remembers relayers. */
export interface RelayerCopies {
  readonly read: RelayerReader
  /** Call it with every notification. */
  forget(): void
}

/**
 * Remembers the relayers of a reader until one changes. A copy is as fresh as a query where a notification arrives before the commit that
 * sends it has returned, as those of the embedded database do.
 */
export function keepCopies(read: RelayerReader): RelayerCopies {
  let copies = new Map<string, Relayer>()
  return {
    forget() {
      copies = new Map()
    },
    async read(id) {
      const copy = copies.get(id)
      if (copy !== undefined) return copy
      // A change while it is read leaves this map behind, and what was read with it.
      const present = copies
      const relayer = await read(id)
      if (relayer === undefined) return undefined
      if (present.size >= MAX_COPIES) present.clear()
      present.set(id, relayer)
      return relayer
    },
  }
}
