interface TimeSources {
  /** The time of day, in ms since the Unix epoch. It can step. */
  readonly wall: () => number
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number
}

/** A larger difference between the two clocks is a step, in ms. Time synchronisation removes smaller ones all the time. */
const STEP_MS = 1_000

/** A step is followed after this time, in ms. A shorter one is a fault: it would date records and end transactions by a wrong time. */
const LASTING_MS = 10_000

/** Creates a time of day that follows small corrections at once, and a step only when it has lasted. */
export function createSteadyTime({ wall, monotonic }: TimeSources): () => number {
  let offset = wall() - monotonic()
  let step: { readonly offset: number; readonly since: number } | undefined
  return () => {
    const elapsed = monotonic()
    const seen = wall() - elapsed
    if (Math.abs(seen - offset) < STEP_MS) {
      offset = seen
      step = undefined
    } else if (step === undefined || Math.abs(seen - step.offset) >= STEP_MS) {
      step = { offset: seen, since: elapsed }
    } else if (elapsed - step.since >= LASTING_MS) {
      offset = seen
      step = undefined
    }
    return Math.round(elapsed + offset)
  }
}
