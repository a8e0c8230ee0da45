import { findFree } from '../database/processes.ts'
import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { findDueRelayers, hasDuePending } from '../transactions/store/due-store.ts'
import { workAccount } from '../transactions/submit/account-step.ts'
import { accountLeaseName } from './account-share.ts'
import { createLoop, type Loop } from './loop.ts'

/** The longest delay in ms of due work without a wake: after a crash, or when a waiting time ends. */
const BACKSTOP_MS = 500

/** Time in ms after which a process works for an account of another one that is alive and does not. */
const NEGLECTED_MS = 2_500

/** The loop of submissions, which can also be woken for one relayer. */
export interface SubmitLoop extends Loop {
  /** Starts a step of the relayer. While one runs, another one follows it if there is something to sign. */
  wakeRelayer(relayerId: string): void
  /** Like `wakeRelayer`, but a step starts only if there is something to sign. */
  wakeForSlot(relayerId: string): void
}

/**
 * Runs `workAccount` for the accounts of this process that have due work, in parallel, and one step at a time
 * for each account. Those of other processes cost nothing, unless no one works for them.
 */
export function createSubmitWorker(context: TransactionsContext): SubmitLoop {
  const running = new Map<string, Promise<void>>()
  const again = new Set<string>()
  let isStarted = false
  let dueSince = new Map<string, number>()
  const { share, clock } = context
  const loop = createLoop({
    name: 'submit',
    intervalMs: BACKSTOP_MS,
    clock,
    log: context.log,
    work: async () => {
      const due = await findDueRelayers(context.db, new Date(context.clock.now()))
      const { own = [], others = [] } = Object.groupBy(due, (id) => (share.has(id) ? 'own' : 'others'))
      for (const relayerId of [...own, ...(await findNeglected(others))]) begin(relayerId, true)
    },
  })

  /**
   * Finds the accounts of other processes that have been due for too long, and that no live process has
   * leased.
   */
  async function findNeglected(due: readonly string[]): Promise<Iterable<string>> {
    const now = clock.monotonic()
    dueSince = new Map(due.map((id) => [id, dueSince.get(id) ?? now]))
    const overdue = due.filter((id) => now - (dueSince.get(id) ?? now) >= NEGLECTED_MS)
    for (const id of overdue) dueSince.set(id, now)
    const free = await findFree(context.db, overdue.map(accountLeaseName))
    return overdue.filter((id) => free.has(accountLeaseName(id)))
  }

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

  /**
   * Returns true if a further step would sign something. The loop finds what is due for another broadcast,
   * because that reads all in flight.
   */
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
      if (isStarted && share.has(relayerId)) begin(relayerId, true)
    },
    wakeForSlot: (relayerId) => {
      if (isStarted && share.has(relayerId)) begin(relayerId, false)
    },
    stop: async () => {
      isStarted = false
      await loop.stop()
      await Promise.all(running.values())
    },
  }
}
