import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * The space for old objects may grow by this percentage of what the last full collection left, before the next one begins. V8 lets a small
 * heap grow to the fourfold by itself and gives it back late. The heap of most services stays below its first limit (`start-settings.ts`), and
 * does not depend on it.
 */
const OLD_SPACE_GROWTH_PERCENT = 40

/** Bounds what V8 keeps of objects that nobody uses any more, as long as the process runs. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${OLD_SPACE_GROWTH_PERCENT}`)
}

/**
 * Keeps V8's space for new objects at its first size while the service starts. Most of what a start creates stays, so that a larger space
 * saves little time, and V8 gives it back late: an idle service would have 40 MB more.
 */
export function holdHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets the space for new objects grow to its limit, by V8's default factor, as the load demands. */
export function allowHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}

/**
 * Collects what a start has left, and gives the memory back. V8 would keep it until its heap is full, which an idle service reaches late: some
 * 10 MB, and 40 with thousands of relayers. It takes about 50 ms, so call it before requests are served.
 */
export function collectStartGarbage(): void {
  // Without the option, V8 shows its collector to nobody. A context that is created after it has one.
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  // Other flavors keep the empty pages.
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
