import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { findDueRelayers } from '../transactions/store/work-store.ts'
import { workAccount } from '../transactions/submit/account-step.ts'
import { createLoop, type Loop } from './loop.ts'

/** How long work that nobody announced can lie, in ms: after a crash, or when a wait is over. */
const BACKSTOP_MS = 500

export interface SubmitLoop extends Loop {
  /** Ends the present wait. Work of an account whose step is under way is looked for after it, and costs no query now. */
  wake(relayerId?: string): void
}

/** Brings accounts with something to do to `workAccount`, side by side, each by one step at a time. */
export function createSubmitWorker(context: TransactionsContext): SubmitLoop {
  const running = new Map<string, Promise<void>>()
  const again = new Set<string>()
  const loop = createLoop({
    name: 'submit',
    intervalMs: BACKSTOP_MS,
    clock: context.clock,
    log: context.log,
    work: async () => {
      for (const relayerId of await findDueRelayers(context.db, new Date(context.clock.now()))) {
        // What was announced while a step ran may have come too late for it.
        if (running.has(relayerId)) again.add(relayerId)
        else running.set(relayerId, step(relayerId))
      }
    },
  })

  async function step(relayerId: string): Promise<void> {
    try {
      await workAccount(context, relayerId)
    } catch (error) {
      context.log.error({ err: error, relayer: relayerId }, 'a step of an account failed; it is tried again')
    } finally {
      running.delete(relayerId)
      if (again.delete(relayerId)) loop.wake()
    }
  }

  return {
    ...loop,
    wake: (relayerId) => {
      if (relayerId !== undefined && running.has(relayerId)) again.add(relayerId)
      else loop.wake()
    },
    stop: async () => {
      await loop.stop()
      await Promise.all(running.values())
    },
  }
}
