import type { ComponentChildren } from 'preact'
import type { Loaded } from '../live/use-load.ts'
import { Failure } from './notice.tsx'

interface WhenLoadedProps<T> {
  readonly loaded: Loaded<T>
  readonly children: (value: T) => ComponentChildren
}

/** Shows a value when it is there, and above it why a newer one could not be loaded. */
export function WhenLoaded<T>({ loaded, children }: WhenLoadedProps<T>) {
  const { value, error, reload } = loaded
  return (
    <>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {value !== undefined && children(value)}
      {value === undefined && error === undefined && <p class="muted loading">Loading …</p>}
    </>
  )
}
