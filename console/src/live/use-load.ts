import { useEffect, useRef, useState } from 'preact/hooks'
import { useWorkplace } from '../session/session-context.ts'

/** What was loaded so far. A reload keeps the earlier value on the page until the new one is there. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: unknown
  readonly isLoading: boolean
  readonly reload: () => void
}

/** Loads a value, and again when one of the keys changes. An answer that comes too late is dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const { session } = useWorkplace()
  const [count, setCount] = useState(0)
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>(NOTHING)
  const name = JSON.stringify(keys)
  const shown = useRef(name)
  useEffect(() => {
    const left = new AbortController()
    const signal = AbortSignal.any([left.signal, session.ended])
    const isSame = shown.current === name
    shown.current = name
    setState((known) => ({ ...(isSame ? known : NOTHING), isLoading: true }))
    load(signal).then(
      (value) => signal.aborted || setState({ value, error: undefined, isLoading: false }),
      (error: unknown) => signal.aborted || setState((known) => ({ ...known, error, isLoading: false })),
    )
    return () => left.abort()
  }, [name, count])
  return { ...state, reload: () => setCount((before) => before + 1) }
}

const NOTHING = { value: undefined, error: undefined, isLoading: true } as const
