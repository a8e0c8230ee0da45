import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import { explainAway } from '../database/errors.ts'
import { acquireLease, type Lease, releaseLease } from '../database/lease.ts'
import type { Clock } from '../lib/time.ts'

/** The health of a loop, for readiness. */
interface LoopHealth {
  readonly name: string
  /** Time in ms since the last successful round, or since the start when there was none. */
  readonly quietMs: number
  readonly error?: string
}

/** A repeated round of work with a start, an early wake and a clean stop. */
export interface Loop {
  readonly name: string
  /** Starts the rounds. Resolves after the first one. */
  start(): Promise<void>
  /** Ends the current wait. A wake during a round triggers another round. */
  wake(): void
  /** Finishes the current round, then ends. */
  stop(): Promise<void>
  health(): LoopHealth
}

/** The reason for the end of a wait. It is not used. */
const WOKEN = 'woken'

interface LoopOptions {
  readonly name: string
  /**
   * The longest wait between two rounds, in ms. A wake normally comes first; the timer is only the backstop. A
   * function is asked after each round.
   */
  readonly intervalMs: number | (() => number)
  readonly clock: Clock
  readonly log: Logger
  readonly work: () => Promise<void>
}

/**
 * Repeats a round of work until it is stopped. A wake starts the next round early. A failed round is logged,
 * and the next one follows.
 */
export function createLoop({ name, intervalMs, clock, log, work }: LoopOptions): Loop {
  const stopping = new AbortController()
  let waiting = new AbortController()
  let woken = false
  let running: Promise<void> | undefined
  const first = Promise.withResolvers<void>()
  let lastGood = clock.monotonic()
  let error: string | undefined

  async function round() {
    woken = false
    try {
      await work()
      lastGood = clock.monotonic()
      error = undefined
    } catch (fault) {
      error = fault instanceof Error ? fault.message : String(fault)
      // The log has one line about the database for all loops.
      const level = explainAway(fault) === undefined ? 'error' : 'debug'
      log[level]({ err: fault, loop: name }, `${name.split(' ', 1)[0]} round failed; retrying`)
    }
  }

  async function run() {
    while (!stopping.signal.aborted) {
      await round()
      first.resolve()
      if (woken && error === undefined) continue
      waiting = new AbortController()
      const ms = typeof intervalMs === 'number' ? intervalMs : intervalMs()
      await clock.sleep(ms, AbortSignal.any([waiting.signal, stopping.signal]))
    }
  }

  return {
    name,
    start: () => {
      lastGood = clock.monotonic()
      running ??= run()
      return first.promise
    },
    wake: () => {
      woken = true
      // Without a reason, each call would create an exception with a stack.
      if (!waiting.signal.aborted) waiting.abort(WOKEN)
    },
    stop: async () => {
      stopping.abort()
      await running
    },
    health: () => ({
      name,
      quietMs: clock.monotonic() - lastGood,
      ...(error === undefined ? {} : { error }),
    }),
  }
}

interface LeaseHolderOptions {
  readonly db: Db
  readonly clock: Clock
  /** Identifies this process in leases. */
  readonly owner: string
  readonly name: string
  /** Time in ms that the lease lasts. It is renewed at half of it. */
  readonly ttlMs: number
  /** Time in ms between two tries while another process has the lease. Default: at every call. */
  readonly standbyMs?: number
}

/** A lease that is renewed in time. Calls are cheap while it lasts. */
interface LeaseHolder {
  /** Acquires or renews the lease when that is due. Returns true while this process has it. */
  hold(): Promise<boolean>
  /**
   * Lets the next owner take over immediately. Never rejects: a lease that cannot be released ends at its
   * deadline, and a shutdown continues.
   */
  release(): Promise<void>
}

/** Creates a holder that has not tried to get its lease yet. */
export function createLeaseHolder(options: LeaseHolderOptions): LeaseHolder {
  const { db, clock, owner, name, ttlMs, standbyMs = 0 } = options
  let lease: Lease | undefined
  let renewAt = 0
  return {
    hold: async () => {
      const now = clock.monotonic()
      if (now >= renewAt) {
        lease = await acquireLease(db, { name, owner, ttlMs })
        renewAt = now + (lease === undefined ? standbyMs : ttlMs / 2)
      }
      return lease !== undefined
    },
    release: async () => {
      if (lease !== undefined) await releaseLease(db, lease).catch(() => {})
    },
  }
}

interface LeasedLoopOptions extends LoopOptions, Pick<LeaseHolderOptions, 'db' | 'owner' | 'ttlMs'> {}

/**
 * Creates a loop that works in one process at a time: the one that has the lease of its name. A stop releases
 * the lease.
 */
export function createLeasedLoop({ db, owner, ttlMs, work, ...options }: LeasedLoopOptions): Loop {
  const lease = createLeaseHolder({ db, clock: options.clock, owner, name: options.name, ttlMs })
  const loop = createLoop({
    ...options,
    work: async () => {
      if (await lease.hold()) await work()
    },
  })
  return {
    ...loop,
    stop: async () => {
      await loop.stop()
      await lease.release()
    },
  }
}
