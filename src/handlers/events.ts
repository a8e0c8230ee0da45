import { credentialOf, type Principal } from '../access/principal.ts'
import type { Input, Schemas, Streamed, StreamGroup, StreamPiece } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import type { EventRecord, LoggedEvent } from '../events/event.ts'
import { createEventLog, type EventLog, nextEvents } from '../events/follow.ts'
import { lastNumber, logBounds } from '../events/store.ts'
import type { StreamSlot } from '../events/stream-limit.ts'
import type { HandlerMap, RequestContext } from '../http/handler.ts'
import { createBatcher } from '../lib/concurrency/batcher.ts'
import { omitUndefined } from '../lib/object.ts'
import type { EventPresenter } from './present/event.ts'
import type { Service } from './service.ts'

/** The most events in one answer; a larger `limit` counts as this. */
const MAX_LIMIT = 100

/** The bytes of a shown event beside its content. */
const FIELD_BYTES = 2_048

/**
 * The events that streams get in one turn of the event loop, or one page. More would keep requests waiting
 * for longer than a few ms.
 */
const EVENTS_PER_TURN = 50

/** The part of the service that the operations of the tag Events use. */
type EventService = Pick<
  Service,
  'db' | 'clock' | 'notifier' | 'presentEvents' | 'streams' | 'tickets' | 'stopping'
>

/** The operations of the tag Events. */
export function eventHandlers(
  service: EventService,
): Pick<HandlerMap, 'listEvents' | 'streamEvents' | 'createStreamTicket'> {
  const { db, presentEvents } = service
  const ends = new Set<() => void>()
  const sources = { log: createEventLog(service), show: createSharedPresenter(presentEvents), ends }
  service.stopping.addEventListener('abort', () => {
    for (const end of ends) end()
  })
  return {
    listEvents: async ({ query }, { principal: { visibility } }) => {
      const after = BigInt(query.after ?? 0)
      const { relayer_id: relayerId, transaction_id: transactionId, type } = query
      const events = await nextEvents(db, {
        relayerId,
        transactionId,
        type,
        visibility,
        after,
        limit: Math.min(MAX_LIMIT, query.limit ?? MAX_LIMIT),
      })
      return { data: await presentEvents(events), logs: await tellWhatIsGone(db, after) }
    },
    streamEvents: async (input, context) =>
      openStream(service, sources, { input: withinTicket(input, context), context }),
    createStreamTicket: async ({ body }, { principal }) => {
      const filter = { relayerId: body.relayer_id, type: body.type }
      const { ticket, expiresAt } = await service.tickets.issue({
        credential: credentialOf(principal),
        filter,
      })
      return { data: { ticket, expires_at: expiresAt.toISOString() } }
    },
  }
}

/**
 * Adds the filter of the ticket to the query.
 *
 * @throws AppError `invalid_request` for a query that asks for other events
 */
function withinTicket(input: Input<'streamEvents'>, { ticketFilter }: RequestContext): Input<'streamEvents'> {
  if (ticketFilter === undefined) return input
  const { relayer_id = ticketFilter.relayerId, type = ticketFilter.type } = input.query
  if (relayer_id !== (ticketFilter.relayerId ?? relayer_id)) throw outsideTicket('relayer_id')
  if (type !== (ticketFilter.type ?? type)) throw outsideTicket('type')
  return { ...input, query: omitUndefined({ ...input.query, relayer_id, type }) }
}

function outsideTicket(field: string): AppError {
  const detail = `query.${field}: expected that of the ticket, or none. The ticket is now used up; get a new one.`
  return new AppError('invalid_request', detail)
}

/** The stream begins after the last event that the reader has, or else after the newest event. */
async function startOf(db: Db, { query, header }: Input<'streamEvents'>): Promise<bigint> {
  const known = header['Last-Event-ID'] ?? query.after
  return known === undefined ? lastNumber(db) : BigInt(known)
}

/** Shows events as pieces of a stream. */
type PiecePresenter = (events: readonly EventRecord[]) => Promise<readonly StreamPiece[]>

/** What all streams of a process have in common: each event is read once, and shown once. */
interface Sources {
  readonly log: EventLog
  readonly show: PiecePresenter
  /**
   * Ends each open stream. A signal looks through all of its listeners to add one, so the service's own has
   * one for all of them.
   */
  readonly ends: Set<() => void>
}

/**
 * Shows each event once for all streams, for as long as the log keeps it in memory. The same arrays of events
 * give the same pieces.
 */
function createSharedPresenter(presentEvents: EventPresenter): PiecePresenter {
  const pieces = new WeakMap<EventRecord, Promise<StreamPiece>>()
  const groups = new WeakMap<readonly EventRecord[], Promise<readonly StreamPiece[]>>()
  const next = createPacer(EVENTS_PER_TURN)
  const present = createBatcher<EventRecord, Schemas['Event']>({
    keyOf: () => '',
    maxItems: MAX_LIMIT,
    collectsTurn: true,
    run: presentEvents,
  })

  function pieceOf(event: EventRecord): Promise<StreamPiece> {
    const known = pieces.get(event)
    if (known !== undefined) return known
    const piece = present(event).then(toPiece)
    pieces.set(event, piece)
    // A failure is that of the database at this moment, not of the event.
    piece.catch(() => pieces.delete(event))
    return piece
  }

  function groupOf(events: readonly EventRecord[]): Promise<readonly StreamPiece[]> {
    const known = groups.get(events)
    if (known !== undefined) return known
    const group = Promise.all(events.map(pieceOf))
    groups.set(events, group)
    group.catch(() => groups.delete(events))
    return group
  }

  return async (events) => {
    const group = await groupOf(events)
    await next(events.length)
    return group
  }
}

/** A caller that waits, and the units of work that follow. */
interface Waiting {
  readonly units: number
  readonly go: () => void
}

/**
 * Creates a function that lets callers continue in the order of their arrival: in each turn of the event loop
 * as many as have this number of units of work together, and at least one.
 */
function createPacer(unitsPerTurn: number): (units: number) => Promise<void> {
  const waiting: Waiting[] = []

  function release(): void {
    let left = unitsPerTurn
    const end = waiting.findIndex(({ units }, index) => {
      left -= units
      return left < 0 && index > 0
    })
    for (const { go } of waiting.splice(0, end === -1 ? waiting.length : end)) go()
    if (waiting.length > 0) setImmediate(release)
  }

  return (units) =>
    new Promise((resolve) => {
      if (waiting.push({ units, go: resolve }) === 1) setImmediate(release)
    })
}

interface Opening {
  readonly input: Input<'streamEvents'>
  readonly context: RequestContext
}

async function openStream(
  service: EventService,
  sources: Sources,
  { input, context: { signal, principal } }: Opening,
): Promise<Streamed> {
  const slot = service.streams.take({ caller: principal.id, signal })
  try {
    const after = await startOf(service.db, input)
    slot.rest()
    const reading = { query: input.query, slot, signal, after, principal }
    return { after: String(after), stream: stream(service, sources, reading) }
  } catch (error) {
    slot.release()
    throw error
  }
}

interface Reading {
  readonly query: Input<'streamEvents'>['query']
  readonly slot: StreamSlot
  /** Aborts when the reader has left. */
  readonly signal: AbortSignal
  readonly after: bigint
  /** The stream ends with its rights. */
  readonly principal: Principal
}

async function* stream(
  { stopping, clock }: EventService,
  { log, show, ends }: Sources,
  { query, slot, signal, after, principal }: Reading,
): AsyncGenerator<StreamGroup> {
  slot.work()
  const ended = new AbortController()
  // Without a reason, each abort would make an error with a stack.
  const end = () => ended.abort('ended')
  const reasons = [signal, principal.ended]
  for (const reason of reasons) reason.addEventListener('abort', end)
  ends.add(end)
  if ([stopping, ...reasons].some(({ aborted }) => aborted)) end()
  const { duration } = query
  if (duration) void clock.sleep(duration * 1000, ended.signal).then(end)
  try {
    const pages = log.follow({
      relayerId: query.relayer_id,
      type: query.type,
      visibility: principal.visibility,
      after,
      waits: duration !== 0,
      signal: ended.signal,
    })
    for await (const page of pages) {
      // The snapshots are most of the work, and would not be read.
      if (signal.aborted) return
      if (page.length === 0) yield [{ kind: 'alive' }]
      else yield { bytes: shownBytes(page), read: () => show(page) }
    }
  } finally {
    for (const reason of reasons) reason.removeEventListener('abort', end)
    ends.delete(end)
    end()
    slot.release()
  }
}

/** Estimates the bytes of shown events. */
function shownBytes(events: readonly LoggedEvent[]): number {
  return events.reduce((sum, { bytes }) => sum + 2 * bytes + FIELD_BYTES, 0)
}

function toPiece(event: Schemas['Event']): StreamPiece {
  return { kind: 'event', id: event.number, type: event.type, data: event }
}

async function tellWhatIsGone(db: Db, after: bigint): Promise<string[]> {
  const { first } = await logBounds(db)
  if (first === undefined || first <= after + 1n) return []
  return [`Events up to number ${first - 1n} are no longer kept.`]
}
