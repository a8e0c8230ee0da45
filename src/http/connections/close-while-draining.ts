import type { Middleware } from '../state.ts'

/** Tells whether the server shuts down. */
export interface DrainState {
  readonly draining: boolean
}

/** Asks callers of a server that shuts down to reconnect elsewhere: a kept-alive connection would outlive the server. */
export function closeWhileDraining(state: DrainState): Middleware {
  return async function closeWhileDraining(context, next) {
    await next()
    if (state.draining) context.set('Connection', 'close')
  }
}
