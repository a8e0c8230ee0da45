import type { Logger } from 'pino'
import type { Db } from '../../database/db.ts'
import type { Clock } from '../../lib/time.ts'
import type { TransactionStatus } from '../model/transaction.ts'
import { isFinal } from '../model/transitions.ts'
import { findStates, type TransactionState } from '../store/lookups-store.ts'

/** The statuses that a request can wait for. A later one counts too. */
export type AwaitedStatus = Extract<TransactionStatus, 'submitted' | 'mined' | 'confirmed'>

/**
 * Tells whether a status is the awaited one or a later one. Pure: every final status is later than all
 * others.
 */
export function hasReached(status: TransactionStatus, awaited: AwaitedStatus): boolean {
  if (isFinal(status)) return true
  return status === 'mined' ? awaited !== 'confirmed' : status === awaited
}

interface WaitOptions {
  readonly isDone: (state: TransactionState) => boolean
  /** The longest time in ms. */
  readonly ms: number
  /** Ends the wait early. */
  readonly signal: AbortSignal
}

/** The waits of requests for transactions. */
export interface TransactionWaits {
  /**
   * Waits until the transaction is as wanted or gone, the time is up, or the service stops. It never fails,
   * because the caller has to learn of a transaction that was accepted: without a database, the time passes.
   */
  until(transactionId: string, options: WaitOptions): Promise<void>
}

/**
 * The time in ms after which waits look without an event, because a lost connection to the database loses
 * announcements.
 */
const BACKSTOP_MS = 500

/**
 * The pause in ms between two looks: the events of all relayers announce themselves, so a busy service would
 * look all the time.
 */
const PAUSE_MS = 10

/** Tells when an event was committed, as the notifier of events does. */
interface Announcements {
  add(): Listener
}

interface Listener {
  /** Returns a signal that aborts at the next event after this call, or at `wake`. */
  arm(): AbortSignal
  wake(): void
  remove(): void
}

interface WaitDeps {
  readonly db: Db
  readonly clock: Clock
  readonly notifier: Announcements
  readonly log: Logger
  /** Ends every wait when the service stops. */
  readonly stopping: AbortSignal
}

interface Wait {
  readonly transactionId: string
  readonly isDone: WaitOptions['isDone']
  readonly end: () => void
}

/**
 * Creates the waits of this process. One statement for each announced event, or several of them, serves all
 * of them.
 */
export function createTransactionWaits({ db, clock, notifier, log, stopping }: WaitDeps): TransactionWaits {
  const waits = new Set<Wait>()
  let listener: Listener | undefined

  async function look(): Promise<void> {
    const ids = new Set([...waits].map(({ transactionId }) => transactionId))
    const states = await findStates(db, [...ids])
    for (const { transactionId, isDone, end } of waits) {
      // A wait that began during the statement is looked at next.
      const state = states.get(transactionId)
      if (ids.has(transactionId) && (state === undefined || isDone(state))) end()
    }
  }

  async function lookWhileAwaited(events: Listener): Promise<void> {
    while (waits.size > 0) {
      // Armed before the look, so that no event is missed between the two.
      const changed = events.arm()
      await look().catch((error: unknown) => log.warn({ err: error }, 'awaited transactions not read'))
      await clock.sleep(BACKSTOP_MS, changed)
      await clock.sleep(PAUSE_MS)
    }
    events.remove()
    listener = undefined
  }

  function wakeLooks(): void {
    if (listener !== undefined) listener.wake()
    else {
      listener = notifier.add()
      void lookWhileAwaited(listener)
    }
  }

  return {
    until: async (transactionId, { isDone, ms, signal }) => {
      if (ms <= 0 || signal.aborted || stopping.aborted) return
      const ended = new AbortController()
      const wait: Wait = { transactionId, isDone, end: () => ended.abort() }
      waits.add(wait)
      wakeLooks()
      for (const reason of [signal, stopping]) reason.addEventListener('abort', wait.end)
      await clock.sleep(ms, ended.signal)
      for (const reason of [signal, stopping]) reason.removeEventListener('abort', wait.end)
      waits.delete(wait)
    },
  }
}
