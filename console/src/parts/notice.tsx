import type { ComponentChildren } from 'preact'
import { describeFailure } from '../format/failure.ts'
import type { Tone } from './tone.ts'

/** A sentence about what happened. A screen reader speaks it when it comes. */
export function Notice({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** Says why something failed, and offers to try again where that can help. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  return (
    <Notice tone="bad">
      {describeFailure(error)}{' '}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </Notice>
  )
}
