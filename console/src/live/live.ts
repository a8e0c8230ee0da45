import { followEvents } from '../../../clients/typescript/src/events/follow.ts'
import type { RelayerEvent } from '../../../clients/typescript/src/index.ts'
import type { Session } from '../session/session.ts'

/** The state of the event stream. `off`: the key may not follow events, or the service refused. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'off'

/** The events of the service as they happen. */
export interface Live {
  state(): LiveState
  /** Calls the listener for each event from now on, and returns the function that ends this. */
  onEvent(listener: (event: RelayerEvent) => void): () => void
  /** Calls the listener for each change of the state, and returns the function that ends this. */
  onState(listener: () => void): () => void
}

/** Follows the events of a session until it ends. */
export function followLive({ client, may, ended }: Session): Live {
  const events = new Set<(event: RelayerEvent) => void>()
  const states = new Set<() => void>()
  let state: LiveState = may('events:read') ? 'connecting' : 'off'
  const become = (next: LiveState) => {
    if (state === next) return
    state = next
    for (const listener of states) listener()
  }
  const follow = async () => {
    const connection = { onOpen: () => become('live'), onLost: () => become('reconnecting') }
    for await (const event of followEvents(client.http, { signal: ended }, connection))
      for (const listener of events) listener(event)
  }
  // The stream ends when the service refuses it, or with the session; the dot in the header shows it.
  if (state !== 'off') follow().catch(() => become('off'))
  return {
    state: () => state,
    onEvent: (listener) => addTo(events, listener),
    onState: (listener) => addTo(states, listener),
  }
}

function addTo<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
