import { limitConcurrency } from '../../../lib/concurrency/limit-concurrency.ts'
import type { Handle, Library } from './library.ts'
import { SERIAL_SESSION } from './numbers.ts'

/** The sessions of a token. One stays open, because a login ends with the last session; the others sign. */
export interface Sessions {
  readonly first: Handle
  /** Runs work in a session that nobody else uses meanwhile. */
  run<T>(work: (session: Handle) => Promise<T>): Promise<T>
  /** Closes all of them; work that runs fails. */
  close(): void
}

/** Signatures of a token at the same time. Each has a session of its own, of which small HSMs have few, and one of Node's four threads. */
const MAX_SESSIONS = 4

/** Opens the first session; the others follow when they are needed. */
export function openSessions(library: Library, slot: Handle): Sessions {
  const open = new Set<Handle>()
  const idle: Handle[] = []
  const inTurn = limitConcurrency(MAX_SESSIONS)
  const first = openOne()

  function openOne(): Handle {
    const session = library.C_OpenSession(slot, SERIAL_SESSION)
    open.add(session)
    return session
  }

  /** Handles can be given out again, so none is closed twice. */
  function closeOne(session: Handle): void {
    if (!open.delete(session)) return
    try {
      library.C_CloseSession(session)
    } catch {
      // The token went away, and its sessions with it.
    }
  }

  return {
    first,
    run: (work) =>
      inTurn(async () => {
        const session = idle.pop() ?? openOne()
        try {
          const result = await work(session)
          idle.push(session)
          return result
        } catch (error) {
          // It can have an operation under way.
          closeOne(session)
          throw error
        }
      }),
    close: () => [...open].forEach(closeOne),
  }
}
