import { ALL_RELAYERS, seesEverything } from '../access/principal.ts'
import type { Db } from '../database/db.ts'
import { larger } from '../lib/bigint.ts'
import { limitConcurrency } from '../lib/concurrency/limit-concurrency.ts'
import type { Clock } from '../lib/time.ts'
import { type EventFilter, type LoggedEvent, selects } from './event.ts'
import type { EventNotifier } from './notifier.ts'
import { lastNumber, numberBefore, PAGE_BYTES, readEvents } from './store.ts'

/** The number of events in a page. */
const PAGE = 100

/** Limits of the pages that stay in memory, for readers that are a little late or come back. */
const KEPT_PAGES = 200
const KEPT_EVENTS = 2_000
const KEPT_BYTES = 2 * 1024 * 1024

/** The longest silence of a reader, in ms: proxies cut connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000

/**
 * Time in ms from one round to the next, for each reader: half a second for two thousand. A round costs about
 * 0.04 ms for each, so this leaves most of the process to requests, however often events come; those that
 * come meanwhile are sent together.
 */
const ROUND_MS_PER_READER = 0.25

/**
 * The readers with old cursors and filters that read for themselves at the same time. More would take the
 * database from those who send.
 */
const OWN_READS = 4

/** Time in ms for which the position of `KEPT_EVENTS` is not read again. */
const NEAR_FRESH_MS = 5_000

/** Events, and the number up to which the reader has seen every event that it may see. */
export interface EventPage {
  readonly events: readonly LoggedEvent[]
  readonly upTo: bigint
  /** The bytes of their contents. */
  readonly bytes: number
  /** True if more events may follow. */
  readonly isFull: boolean
}

/**
 * Reads the next events of a reader, oldest first. No event with a number up to `upTo` is committed later.
 */
export async function nextPage(
  db: Db,
  options: EventFilter & { readonly after: bigint; readonly limit: number },
): Promise<EventPage> {
  const last = await lastNumber(db)
  const events = await readEvents(db, { ...options, upTo: last })
  const bytes = events.reduce((sum, event) => sum + event.bytes, 0)
  const isFull = events.length === options.limit || bytes >= PAGE_BYTES
  const upTo = (isFull ? events.at(-1)?.number : undefined) ?? last
  return { events, upTo: larger(upTo, options.after), bytes, isFull }
}

/**
 * Reads the next events of a reader, oldest first. No event with a number up to the last one of them is
 * committed later.
 */
export async function nextEvents(
  db: Db,
  options: EventFilter & { readonly after: bigint; readonly limit: number },
): Promise<readonly LoggedEvent[]> {
  return (await nextPage(db, options)).events
}

interface FollowOptions extends EventFilter {
  readonly after: bigint
  /** False to end after the stored events. */
  readonly waits: boolean
  /** Ends the generator. */
  readonly signal: AbortSignal
}

/** The event log as the readers of this process follow it. */
export interface EventLog {
  /**
   * Yields the events after a cursor, and then each new one, in pages of at most 100. It takes the next page
   * only when the consumer requests it, so a slow consumer costs one page of memory. An empty page is a
   * heartbeat. Readers with the same filter get the same arrays, so that what is made of them can be shared.
   */
  follow(options: FollowOptions): AsyncGenerator<readonly LoggedEvent[]>
}

/** A page of the log, for all readers. */
interface SharedPage extends EventPage {
  readonly after: bigint
  /** The events of each filter that was asked for. */
  readonly selected: Map<string, readonly LoggedEvent[]>
}

/** A reader that follows the log. */
interface Reader {
  readonly filter: EventFilter
  /** Equal for equal filters. */
  readonly filterKey: string
  /** Time of the monotonic clock of its last page. */
  quietSince: number
  /** Ends its wait; absent while it does not wait. */
  wake?: ((reason: 'events' | 'silence') => void) | undefined
}

/**
 * Creates the log of a process. A page is read once and serves every reader whose cursor is in it, so that an
 * event costs a few queries, and not some for each reader. Only a reader that is far behind and asks for few
 * events reads for itself, because the index of its filter is better.
 */
export function createEventLog({
  db,
  clock,
  notifier,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly notifier: EventNotifier
}): EventLog {
  /** In the order of their last use. */
  const pages: SharedPage[] = []
  /** The reader that has been quiet for the longest time is the first one. */
  const readers = new Set<Reader>()
  const readOwn = limitConcurrency(OWN_READS)
  /** Counts the rounds, each of which looks for events once. */
  let round = 0
  let nextRoundAt = Number.NEGATIVE_INFINITY
  /** There was nothing after this number in this round, at this time. */
  let end = { number: 0n, round: -1, at: Number.NEGATIVE_INFINITY }
  let near = { number: 0n, at: Number.NEGATIVE_INFINITY }
  let reading: Promise<void> | undefined
  let isRoundDue = false
  let unsubscribe = () => {}
  let resting = new AbortController()

  /** Begins a round, unless one is due: it looks for new events, and wakes the readers. */
  function announced(): void {
    if (isRoundDue) return
    isRoundDue = true
    const restMs = nextRoundAt - performance.now()
    if (restMs > 0) setTimeout(beginRound, restMs)
    else beginRound()
  }

  function beginRound(): void {
    isRoundDue = false
    nextRoundAt = performance.now() + readers.size * ROUND_MS_PER_READER
    round += 1
    for (const { wake } of readers) wake?.('events')
  }

  function join(reader: Reader): void {
    readers.add(reader)
    if (readers.size > 1) return
    // Nothing was announced while there was no reader.
    round += 1
    resting = new AbortController()
    unsubscribe = notifier.subscribe(announced)
    void keepAlive(resting.signal)
  }

  function leave(reader: Reader): void {
    readers.delete(reader)
    if (readers.size > 0) return
    unsubscribe()
    resting.abort()
  }

  async function keepAlive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [first] = readers
      const restMs = (first?.quietSince ?? clock.monotonic()) + HEARTBEAT_MS - clock.monotonic()
      if (first === undefined || restMs > 0) await clock.sleep(Math.max(restMs, 1), signal)
      else {
        noteOutput(first)
        first.wake?.('silence')
      }
    }
  }

  function noteOutput(reader: Reader): void {
    reader.quietSince = clock.monotonic()
    if (readers.delete(reader)) readers.add(reader)
  }

  /** Returns a page that is in memory and has what follows a cursor. It then counts as used. */
  function pageWith(after: bigint): SharedPage | undefined {
    const index = pages.findLastIndex((page) => page.after <= after && after < page.upTo)
    const page = pages[index]
    if (page === undefined || index === pages.length - 1) return page
    pages.splice(index, 1)
    pages.push(page)
    return page
  }

  function keep(page: SharedPage): void {
    pages.push(page)
    let count = 0
    let bytes = 0
    const first = pages.findLastIndex((one, index) => {
      count += one.events.length
      bytes += one.bytes
      return pages.length - index > KEPT_PAGES || count > KEPT_EVENTS || bytes > KEPT_BYTES
    })
    // The newest page stays, however large it is: its readers are about to take it.
    pages.splice(0, Math.min(first + 1, pages.length - 1))
  }

  async function read(after: bigint): Promise<void> {
    const roundOfRead = round
    const at = clock.monotonic()
    const page = await nextPage(db, { after, limit: PAGE })
    if (!page.isFull) end = { number: page.upTo, round: roundOfRead, at }
    if (page.upTo > after) keep({ ...page, after, selected: new Map() })
  }

  const isAtEnd = (after: bigint) =>
    after >= end.number && end.round === round && clock.monotonic() - end.at < HEARTBEAT_MS

  /** Returns true if the kept pages reach back to this number, or could. */
  async function isNear(after: bigint): Promise<boolean> {
    if (after >= near.number && clock.monotonic() - near.at < NEAR_FRESH_MS) return true
    const at = clock.monotonic()
    near = { number: (await numberBefore(db, KEPT_EVENTS)) ?? 0n, at }
    return after >= near.number
  }

  async function next(
    { filter, filterKey }: Reader,
    after: bigint,
  ): Promise<Pick<EventPage, 'events' | 'upTo'>> {
    for (;;) {
      const page = pageWith(after)
      if (page !== undefined) return { events: selected(page, { filter, filterKey, after }), upTo: page.upTo }
      if (isAtEnd(after)) return { events: [], upTo: after }
      if (isNarrow(filter) && !(await isNear(after)))
        return readOwn(() => nextPage(db, { ...filter, after, limit: PAGE }))
      // A read for another cursor may bring what this reader needs.
      reading ??= read(after).finally(() => {
        reading = undefined
      })
      await reading
    }
  }

  return {
    async *follow({ after, waits, signal, ...filter }) {
      const reader: Reader = { filter, filterKey: JSON.stringify(filter), quietSince: clock.monotonic() }
      const stop = () => reader.wake?.('silence')
      let cursor = after
      join(reader)
      signal.addEventListener('abort', stop)
      try {
        while (!signal.aborted) {
          // An event that is committed between the read and the wait begins a round, which ends the wait
          // immediately.
          const roundOfPage = round
          const { events, upTo } = await next(reader, cursor)
          const hasMoved = upTo > cursor
          cursor = upTo
          if (events.length > 0) {
            noteOutput(reader)
            yield events
          } else if (!waits && !hasMoved) return
          else if (!hasMoved && !signal.aborted && round === roundOfPage) {
            const { promise, resolve } = Promise.withResolvers<'events' | 'silence'>()
            reader.wake = resolve
            const reason = await promise
            reader.wake = undefined
            if (reason === 'silence' && !signal.aborted) yield []
          }
        }
      } finally {
        signal.removeEventListener('abort', stop)
        leave(reader)
      }
    },
  }
}

/** Returns true for a filter that leaves out events. */
function isNarrow({ relayerId, transactionId, type, visibility = ALL_RELAYERS }: EventFilter): boolean {
  return [relayerId, transactionId, type].some((value) => value !== undefined) || !seesEverything(visibility)
}

/** Returns the events of a page that the reader sees and does not have. */
function selected(
  page: SharedPage,
  { filter, filterKey, after }: Pick<Reader, 'filter' | 'filterKey'> & { readonly after: bigint },
): readonly LoggedEvent[] {
  const known = page.selected.get(filterKey)
  const all = known ?? page.events.filter((event) => selects(filter, event))
  if (known === undefined) page.selected.set(filterKey, all)
  return after === page.after || all.every(({ number }) => number > after)
    ? all
    : all.filter(({ number }) => number > after)
}
