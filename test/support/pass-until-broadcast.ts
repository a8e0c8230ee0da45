import type { AdjustableClock } from './adjustable-clock.ts'
import { until } from './until.ts'

/** Longer than the service waits until it broadcasts accepted bytes again, in ms. */
const REBROADCAST_MS = 31_000

/** A step of the service takes less than this, in ms of the machine's clock. */
const STEP_MS = 1_000

interface Watched {
  readonly clock: AdjustableClock
  /** The number of broadcasts so far. */
  readonly broadcasts: () => number
}

/**
 * Lets at least so much time pass, and resolves when the service has broadcast again. A step that was under way when the clock moved counts its
 * wait from the new time, so the clock then moves once more.
 */
export async function passUntilBroadcast({ clock, broadcasts }: Watched, ms: number): Promise<void> {
  const before = broadcasts()
  let moved = Date.now()
  clock.advance(ms)
  await until(
    async () => {
      if (Date.now() - moved > STEP_MS) {
        moved = Date.now()
        clock.advance(REBROADCAST_MS)
      }
      return broadcasts()
    },
    (count) => count > before,
  )
}
