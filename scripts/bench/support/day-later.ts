/**
 * Loaded into a service before its own program: at each SIGUSR2 all clocks of the process leap a day ahead, as if it had run for so long.
 * Timers that run stay as they are.
 */
const DAY_MS = 86_400_000

let leaptMs = 0
const wall = Date.now.bind(Date)
const monotonic = performance.now.bind(performance)
Date.now = () => wall() + leaptMs
performance.now = () => monotonic() + leaptMs
process.on('SIGUSR2', () => {
  leaptMs += DAY_MS
})
