import type { Logger } from 'pino'
import type { Clock } from '../lib/time/clock.ts'

/** The health of a loop, for readiness. */
export interface LoopHealth {
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
  /** Ends the present wait. A wake during a round makes another round follow it. */
  wake(): void
  /** Lets the present round finish, then ends. */
  stop(): Promise<void>
  health(): LoopHealth
}

/** The reason for the end of a wait. Nobody reads it. */
const WOKEN = 'woken'

interface LoopOptions {
  readonly name: string
  /** The longest wait between two rounds, in ms. A wake normally comes first; the timer is only the backstop. */
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Logger
  readonly work: () => Promise<void>
}

/** Repeats a round of work until it is stopped. A wake starts the next round early. A failed round is logged, and the next one follows. */
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
      log.error({ err: fault, loop: name }, `${name.split(' ', 1)[0]} round failed; retrying`)
    }
  }

  async function run() {
    while (!stopping.signal.aborted) {
      await round()
      first.resolve()
      if (woken && error === undefined) continue
      waiting = new AbortController()
      await clock.sleep(intervalMs, AbortSignal.any([waiting.signal, stopping.signal]))
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
      // Without a reason, each call would make an exception with a stack.
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
