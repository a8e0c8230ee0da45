import { setFlagsFromString } from 'node:v8'

/**
 * The space for old objects may grow by this percentage of what the last full collection left, before the next one begins. V8 lets a small
 * heap grow to the fourfold by itself and gives it back late. The heap of most services stays below its first limit (`memory-settings.ts`), and
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
