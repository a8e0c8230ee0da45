import { useEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { forEachAtMost } from '../../live/for-each-at-most.ts'
import { useWorkplace } from '../../session/session-context.ts'

/** The service asks the network for each status, so only a few are asked at a time. */
const AT_A_TIME = 4

/** The time in which events of a relayer are collected, in ms, so that a busy one is not asked all the time. */
const COLLECT_MS = 1_000

/** The balances are asked again after this time, in ms, because no event tells them. */
const REFRESH_MS = 60_000

type Status = Schemas['RelayerStatus']

interface Statuses {
  readonly statuses: ReadonlyMap<string, Status>
  /** Loads one status again, soon. */
  readonly refresh: (relayerId: string) => void
}

/** Loads the status of each of these relayers, and again every minute. A status that fails stays absent until the next time. */
export function useStatuses(ids: readonly string[]): Statuses {
  const { session } = useWorkplace()
  const [statuses, setStatuses] = useState<ReadonlyMap<string, Status>>(new Map())
  const load = async (id: string) => {
    const status = await session.client.relayers
      .getStatus(id, { signal: session.ended })
      .catch(() => undefined)
    if (status !== undefined) setStatuses((known) => new Map(known).set(id, status))
  }
  useEffect(() => {
    const left = new AbortController()
    const loadAll = () => void forEachAtMost(ids, { limit: AT_A_TIME, signal: left.signal }, load)
    loadAll()
    const timer = setInterval(loadAll, REFRESH_MS)
    return () => {
      left.abort()
      clearInterval(timer)
    }
  }, [ids.join()])
  return {
    statuses,
    refresh: useCollected(
      (changed) => void forEachAtMost(changed, { limit: AT_A_TIME, signal: session.ended }, load),
    ),
  }
}

/** Collects ids for a moment, and hands each of them on once. */
function useCollected(handle: (ids: readonly string[]) => void): (id: string) => void {
  const collected = useRef(new Set<string>())
  const timer = useRef<number>()
  useEffect(() => () => clearTimeout(timer.current), [])
  return (id) => {
    collected.current.add(id)
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      handle([...collected.current])
      collected.current.clear()
    }, COLLECT_MS)
  }
}
