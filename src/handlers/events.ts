import type { Principal } from '../access/principal.ts'
import type { HandlerMap, RequestContext } from '../contract/handler.ts'
import type { Input, Schemas, Streamed, StreamGroup, StreamPiece } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import { followEvents, nextEvents } from '../events/follow.ts'
import { lastNumber, logBounds } from '../events/store.ts'
import type { StreamSlot } from '../events/stream-limit.ts'
import { omitUndefined } from '../lib/object.ts'
import type { Service } from './service.ts'

/** The most events in one answer; a larger `limit` counts as this. */
const MAX_LIMIT = 100

/** The longest silence of a stream, in ms: proxies cut connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000

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
    streamEvents: async (input, context) => openStream(service, withinTicket(input, context), context),
    createStreamTicket: async ({ body }, { principal }) => {
      const filter = { relayerId: body.relayer_id, type: body.type }
      const { ticket, expiresAt } = await service.tickets.issue({ keyId: principal.id, filter })
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

async function openStream(
  service: EventService,
  input: Input<'streamEvents'>,
  { signal, principal }: RequestContext,
): Promise<Streamed> {
  const slot = service.streams.take({ caller: principal.id, signal })
  try {
    const after = await startOf(service.db, input)
    slot.rest()
    return { after: String(after), stream: stream(service, input, { slot, signal, after, principal }) }
  } catch (error) {
    slot.release()
    throw error
  }
}

interface Reading {
  readonly slot: StreamSlot
  /** Aborts when the reader has left. */
  readonly signal: AbortSignal
  readonly after: bigint
  /** The stream ends with its rights. */
  readonly principal: Principal
}

async function* stream(
  { presentEvents, stopping, ...service }: EventService,
  { query }: Input<'streamEvents'>,
  { slot, signal, after, principal }: Reading,
): AsyncGenerator<StreamGroup> {
  slot.work()
  const ends = new AbortController()
  const end = () => ends.abort()
  const reasons = [stopping, signal, principal.ended]
  for (const reason of reasons) reason.addEventListener('abort', end)
  if (reasons.some(({ aborted }) => aborted)) end()
  const { duration } = query
  if (duration) void service.clock.sleep(duration * 1000, ends.signal).then(end)
  try {
    const pages = followEvents(service, {
      relayerId: query.relayer_id,
      type: query.type,
      visibility: principal.visibility,
      after,
      heartbeatMs: duration === 0 ? 0 : HEARTBEAT_MS,
      signal: ends.signal,
    })
    for await (const page of pages) {
      // The snapshots are most of the work, and would not be read.
      if (signal.aborted) return
      if (page.length > 0) yield async () => (await presentEvents(page)).map(toPiece)
      else if (duration === 0) return
      else yield [{ kind: 'alive' }]
    }
  } finally {
    for (const reason of reasons) reason.removeEventListener('abort', end)
    end()
    slot.release()
  }
}

function toPiece(event: Schemas['Event']): StreamPiece {
  return { kind: 'event', id: event.number, type: event.type, data: event }
}

async function tellWhatIsGone(db: Db, after: bigint): Promise<string[]> {
  const { first } = await logBounds(db)
  if (first === undefined || first <= after + 1n) return []
  return [`Events up to number ${first - 1n} are no longer kept.`]
}
