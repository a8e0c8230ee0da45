import type { Logger } from 'pino'
import type { Clock } from '../lib/time/clock.ts'
import { createLoop, type Loop } from './loop.ts'

/** A clock that can ask another one for the time. */
interface MeasuredClock extends Clock {
  measure(): Promise<void>
}

/** Time in ms between two questions for the time. The clocks of machines drift apart by some ms meanwhile. */
const INTERVAL_MS = 60_000

/** Creates the loop that keeps the clock of the process at the time of the database. */
export function createClockWorker(clock: MeasuredClock, log: Logger): Loop {
  return createLoop({ name: 'clock', intervalMs: INTERVAL_MS, clock, log, work: clock.measure })
}
