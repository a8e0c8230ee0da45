import type { FinishingStep } from '../answers/finish-answer.ts'

/** Tells whether the server shuts down. */
export interface DrainState {
  readonly draining: boolean
}

/** Asks callers of a server that shuts down to reconnect elsewhere: a kept-alive connection would outlive the server. */
export function closeWhileDraining(state: DrainState): FinishingStep {
  return function closeWhileDraining(context) {
    if (state.draining) context.set('Connection', 'close')
  }
}
