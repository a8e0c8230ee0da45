import { useEffect, useState } from 'preact/hooks'

/** Ages on the page are this old at most, in ms. */
const TICK_MS = 5_000

const listeners = new Set<() => void>()
setInterval(() => {
  for (const listener of listeners) listener()
}, TICK_MS)

/** Returns the time in ms, and again every few seconds. All users share one timer. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const listener = () => setNow(Date.now())
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  return now
}
