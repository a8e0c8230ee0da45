import { setTimeout } from 'node:timers/promises'
import { parseJson } from '../../contract/exact-integers.ts'
import type { Schemas } from '../../contract/operations.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import { EXIT } from '../command.ts'
import { toJson } from './api-client.ts'
import { type ApiArguments, pathOf, queryOf } from './api-command.ts'

type Transaction = Schemas['Transaction']
type RelayerEvent = Schemas['Event']

/** The transactions to follow. */
interface Followed {
  readonly relayerId: string
  /** Absent for all of the relayer. */
  readonly id?: string | undefined
}

/** Time in ms until a stream that ended is opened again. Something on the way may end every one at once. */
const REOPEN_AFTER_MS = 1_000

/**
 * Prints changes until the transaction is final, or for ever without one, and returns the exit code. A stream that ends or breaks is opened again
 * behind the last event that came.
 * @throws ApiFailure when the service refuses, or does not answer any more
 */
export async function follow(args: ApiArguments, { relayerId, id }: Followed): Promise<number> {
  let after: string | undefined
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst) await setTimeout(REOPEN_AFTER_MS)
    const query = queryOf({ relayer_id: relayerId, after })
    const stream = await args.client.stream(`/events/stream${query}`)
    // The stream is open, so nothing that happens from now on is missed.
    const now = id === undefined ? undefined : await readTransaction(args, { relayerId, id })
    if (now !== undefined && (isFirst || isFinal(now.status))) print(args, now)
    if (now !== undefined && isFinal(now.status)) {
      await stream.cancel()
      return exitCodeOf(now)
    }
    for await (const { number, payload } of readEvents(stream)) {
      after = number
      if (payload === undefined) continue
      if (!isTransaction(payload) || (id !== undefined && payload.id !== id)) continue
      print(args, payload)
      if (id !== undefined && isFinal(payload.status)) return exitCodeOf(payload)
    }
  }
}

async function readTransaction(
  { client }: ApiArguments,
  { relayerId, id = '' }: Followed,
): Promise<Transaction> {
  return (await client.call<Transaction>('GET', pathOf('relayers', relayerId, 'transactions', id))).data
}

/** The number after which a stream goes on. The beginning of a stream has no payload. */
type Streamed = Pick<RelayerEvent, 'number'> & Partial<Pick<RelayerEvent, 'payload'>>

/** Reads server-sent events as the service sends them: an `id` alone at the beginning, then one line of JSON for each event. */
async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<Streamed> {
  let rest = ''
  for await (const text of untilBroken(stream)) {
    const frames = `${rest}${text}`.split('\n\n')
    // A frame that was cut off counts as not received, with its number.
    rest = frames.pop() ?? ''
    yield* frames.flatMap((frame) => readFrame(frame) ?? [])
  }
}

/** A connection that breaks ends the stream, as the service does when it stops. */
async function* untilBroken(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  try {
    yield* stream.pipeThrough(new TextDecoderStream())
  } catch (error) {
    // `fetch` says it with this type.
    if (!(error instanceof TypeError)) throw error
  }
}

function readFrame(frame: string): Streamed | undefined {
  const fieldOf = (name: string) =>
    frame
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const [number, data] = [fieldOf('id'), fieldOf('data')]
  if (data !== undefined) return parseJson(data) as RelayerEvent
  return number === undefined ? undefined : { number }
}

function isTransaction(payload: RelayerEvent['payload']): payload is Extract<typeof payload, Transaction> {
  return 'status' in payload && 'created_at' in payload
}

function exitCodeOf({ status }: Transaction): number {
  return status === 'confirmed' ? EXIT.ok : EXIT.failed
}

function print({ json, terminal }: ApiArguments, transaction: Transaction): void {
  const { id, status, hash = '', status_reason = '' } = transaction
  terminal.out(json ? toJson(transaction) : [id, status, hash, status_reason].join('  ').trimEnd())
}
