import type { Db } from '../../database/db.ts'
import type { Lease } from '../../database/lease.ts'
import { transact } from '../../database/locks/transact.ts'
import { pauseGone } from '../store.ts'
import type { Outgoing, Settlement } from './delivery.ts'
import type { Receiver } from './receiver.ts'
import { type Key, record, startNext } from './record-store.ts'

/**
 * The maximum number of results that one statement writes. A statement blocks the embedded database while it
 * runs.
 */
const MAX_RECORDED = 200

/** Collects results, and writes many of them with one statement. */
export interface Recorder {
  /** The number of results that wait. */
  readonly waiting: number
  add(settlement: Settlement, goneUrl?: string): void
  /** Writes the waiting results. Those that could not be written stay. Returns the written ones. */
  flush(lease: Lease): Promise<Settlement[]>
  /** Returns true, once, after deliveries became due because the one before them ended. */
  takeStarted(): boolean
  /** Forgets the waiting results of a notification: they belong to a deleted one that had its id. */
  drop(notificationId: string): void
  /** Forgets the waiting results: the next owner of the lease sends those deliveries again. */
  forget(): void
}

/** Creates the recorder of the receivers of this process. */
export function createRecorder(db: Db, receivers: ReadonlyMap<string, Receiver>): Recorder {
  let results: Settlement[] = []
  const gone = new Map<string, string>()
  const ended = new Map<string, Key>()
  let started = false

  async function pauseGoneReceivers(): Promise<void> {
    for (const [notificationId, url] of gone) {
      await transact(db, (tx) => pauseGone(tx, notificationId, url))
      gone.delete(notificationId)
    }
  }

  async function flushSome(lease: Lease): Promise<Settlement[]> {
    const settlements = results.slice(0, MAX_RECORDED)
    const groups = Map.groupBy(settlements, ({ item }) => item.notificationId)
    const moves = [...groups].flatMap(([notificationId, items]) => {
      const receiver = receivers.get(notificationId)
      if (receiver === undefined) return []
      return [{ notificationId, cursor: receiver.queue.cursorAfter(items), since: receiver.since }]
    })
    await record(db, lease, { settlements, moves })
    results = results.slice(settlements.length)
    for (const [notificationId, items] of groups)
      for (const item of receivers.get(notificationId)?.recorded(items) ?? []) wait(item)
    for (const settlement of settlements) if (mayStartNext(settlement)) noteEnded(settlement.item)
    return settlements
  }

  /** The delivery waits for an earlier one of its ordering key. */
  function wait(item: Outgoing): void {
    results.push({ item, status: 'waiting' })
  }

  function noteEnded({ notificationId, orderingKey }: Outgoing): void {
    ended.set(JSON.stringify([notificationId, orderingKey]), { notificationId, orderingKey })
  }

  async function startSuccessors(): Promise<void> {
    if (ended.size === 0) return
    if ((await startNext(db, [...ended.values()])) > 0) started = true
    ended.clear()
  }

  return {
    get waiting() {
      return results.length
    },
    add(settlement, goneUrl) {
      results.push(settlement)
      if (goneUrl !== undefined) gone.set(settlement.item.notificationId, goneUrl)
    },
    async flush(lease) {
      // A notification is paused first: after a crash in between, its receiver gets the event again when it
      // is resumed.
      await pauseGoneReceivers()
      const written: Settlement[] = []
      while (results.length > 0) written.push(...(await flushSome(lease)))
      await startSuccessors()
      return written
    },
    takeStarted() {
      const before = started
      started = false
      return before
    },
    drop(notificationId) {
      results = results.filter(({ item }) => item.notificationId !== notificationId)
      gone.delete(notificationId)
    },
    forget() {
      results = []
      gone.clear()
      ended.clear()
    },
  }
}

/**
 * A delivery without a row has no waiting successors, unless it begins to wait and the one before it ends in
 * the meantime.
 */
function mayStartNext({ item, status }: Settlement): boolean {
  return status === 'waiting' || (item.stored && status !== 'pending')
}
