import { systemClock } from '../../lib/time.ts'
import type { Db, Tx } from '../db.ts'
import { isAway, isRolledBack, noteAway } from '../errors.ts'

/**
 * A database transaction runs this often at most. The order of locks (`lock-order.md`) leaves conflicts to
 * other releases and to other programs, so a second run is rare.
 */
const MAX_RUNS = 5

/**
 * The longest pause in ms before a further run, for each run before it: two that collide would otherwise
 * collide again.
 */
const PAUSE_MS = 20

/**
 * Runs `work` in a database transaction, and commits it. `work` runs again, a few times, when the server
 * rolled it back in favour of another one, or when the connection was lost before the commit was sent:
 * nothing of it is stored then. So `work` must leave nothing outside of the transaction. A connection that is
 * lost at the commit leaves the result unknown, and rejects.
 */
export async function transact<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let runs = 1; ; runs += 1) {
    let step: 'connect' | 'work' | 'commit' = 'connect'
    try {
      return await db.transaction().execute(async (tx) => {
        step = 'work'
        const result = await work(tx)
        step = 'commit'
        return result
      })
    } catch (error) {
      if (!isRolledBack(error) && !(isAway(error) && isStep(step, 'work'))) throw error
      if (runs >= MAX_RUNS) {
        noteAway(error)
        throw error
      }
      await systemClock.sleep(Math.random() * PAUSE_MS * runs)
    }
  }
}

/** The compiler does not see that the callback changes the step. */
function isStep(step: string, wanted: string): boolean {
  return step === wanted
}
