import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's space for new objects at its first size while the service starts. Most of what a start creates stays, so that a larger space
 * saves little time, and V8 gives it back late: an idle service would have 40 MB more.
 */
export function holdHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets the space grow to its default limit, by V8's default factor, as the load demands. */
export function allowHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
