import { useEffect, useRef, useState } from 'preact/hooks'
import type { RelayerEvent } from '../../../clients/typescript/src/index.ts'
import { useWorkplace } from '../session/session-context.ts'
import type { LiveState } from './live.ts'

/** A burst of events loads a page once in this time, in ms. With less, a busy service is asked all the time. */
const RELOAD_MS = 1_000

/** Calls the newest listener for each event while the component is shown. */
export function useEvents(listener: (event: RelayerEvent) => void): void {
  const { live } = useWorkplace()
  const newest = useRef(listener)
  newest.current = listener
  useEffect(() => live.onEvent((event) => newest.current(event)), [live])
}

/**
 * Calls `reload` soon after an event that matters, once for a burst of them, and when the stream opens: what happened between the first load and
 * that moment is in no event.
 */
export function useLiveReload(matters: (event: RelayerEvent) => boolean, reload: () => void): void {
  const { live } = useWorkplace()
  const timer = useRef<number>()
  const newest = useRef(reload)
  newest.current = reload
  const reloadSoon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      newest.current()
    }, RELOAD_MS)
  }
  useEvents((event) => {
    if (matters(event)) reloadSoon()
  })
  useEffect(() => {
    const ignore = live.onState(() => {
      if (live.state() === 'live') reloadSoon()
    })
    return () => {
      ignore()
      clearTimeout(timer.current)
    }
  }, [live])
}

/** Returns the state of the event stream. */
export function useLiveState(): LiveState {
  const { live } = useWorkplace()
  const [state, setState] = useState(live.state())
  useEffect(() => {
    setState(live.state())
    return live.onState(() => setState(live.state()))
  }, [live])
  return state
}
