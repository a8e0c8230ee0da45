/** Measures the CPU time of this thread between two turns of the event loop, which the load of the machine hardly changes. */
export interface TurnMeter {
  /** Returns the longest turn since the start, in ms of CPU, and ends the measurement. */
  stop(): number
}

/** Starts a measurement. Callbacks of `setImmediate` mark the turns, so the loop does not sleep meanwhile. */
export function startTurnMeter(): TurnMeter {
  let worst = 0
  let last = process.threadCpuUsage()
  let isRunning = true
  const mark = () => {
    const { user, system } = process.threadCpuUsage(last)
    worst = Math.max(worst, user + system)
    last = process.threadCpuUsage()
    if (isRunning) setImmediate(mark)
  }
  setImmediate(mark)
  return {
    stop: () => {
      isRunning = false
      return worst / 1000
    },
  }
}
