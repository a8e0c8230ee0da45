import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { findDueRelayers, hasDuePending } from '../transactions/store/due-store.ts'
import { workAccount } from '../transactions/submit/account-step.ts'
import { createLoop, type Loop } from './loop.ts'

/** The longest delay in ms of due work without a wake: after a crash, or when a waiting time ends. */
const BACKSTOP_MS = 500

/** The loop of submissions, which can also be woken for one relayer. */
export interface SubmitLoop extends Loop {
  /** Starts a step of the relayer. While one runs, another one follows it if there is something to sign. */
  wakeRelayer(relayerId: string): void
  /** Like `wakeRelayer`, but a step starts only if there is something to sign. */
  wakeForSlot(relayerId: string): void
}

/** Runs `workAccount` for the accounts with due work, in parallel, and one step at a time for each account. */
export function createSubmitWorker(context: TransactionsContext): SubmitLoop {
  const running = new Map<string, Promise<void>>()
  const again = new Set<string>()
  let isStarted = false
  const loop = createLoop({
    name: 'submit',
    intervalMs: BACKSTOP_MS,
    clock: context.clock,
    log: context.log,
    work: async () => {
      for (const relayerId of await findDueRelayers(context.db, new Date(context.clock.now())))
        begin(relayerId, true)
    },
  })

  function begin(relayerId: string, isDue: boolean): void {
    // Work that arrived during a step may have come too late for it.
    if (running.has(relayerId)) again.add(relayerId)
    else running.set(relayerId, step(relayerId, isDue))
  }

  async function step(relayerId: string, isDue: boolean): Promise<void> {
    try {
      if (isDue || (await hasPending(relayerId))) await workAccount(context, relayerId)
      while (isStarted && again.delete(relayerId))
        if (await hasPending(relayerId)) await workAccount(context, relayerId)
    } catch (error) {
      context.log.error({ err: error, relayer: relayerId }, 'account step failed; retrying')
    } finally {
      running.delete(relayerId)
      if (again.delete(relayerId)) loop.wake()
    }
  }

  /** Returns true if a further step would sign something. The loop finds what is due for another broadcast, because that reads all in flight. */
  function hasPending(relayerId: string): Promise<boolean> {
    return hasDuePending(context.db, relayerId, new Date(context.clock.now()))
  }

  return {
    ...loop,
    start: () => {
      isStarted = true
      return loop.start()
    },
    wakeRelayer: (relayerId) => {
      if (isStarted) begin(relayerId, true)
    },
    wakeForSlot: (relayerId) => {
      if (isStarted) begin(relayerId, false)
    },
    stop: async () => {
      isStarted = false
      await loop.stop()
      await Promise.all(running.values())
    },
  }
}
