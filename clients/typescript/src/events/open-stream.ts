import { toApiError } from '../errors/to-api-error.ts'
import type { operations } from '../generated/api.ts'
import type { RelayerHttp } from '../http.ts'
import { readBlocks, type ServerSentBlock } from './server-sent-events.ts'

/** The service breaks a silence after 15 s. A connection that is silent for longer than this, in ms, is lost. */
const LONGEST_SILENCE_MS = 45_000

interface Opening {
  readonly query: NonNullable<operations['streamEvents']['parameters']['query']>
  readonly signal: AbortSignal | undefined
}

/**
 * Opens the event stream. Its blocks end when the stream ends, when the connection is lost, and when the signal aborts.
 *
 * @throws RelayerApiError if the service refuses, and RelayerConnectionError when it does not answer
 */
export async function openStream(
  http: RelayerHttp,
  { query, signal }: Opening,
): Promise<AsyncGenerator<ServerSentBlock>> {
  const silence = new AbortController()
  const ends = signal === undefined ? silence.signal : AbortSignal.any([silence.signal, signal])
  const { data, error, response } = await http.GET('/api/v1/events/stream', {
    params: { query },
    parseAs: 'stream',
    signal: ends,
  })
  if (!data) throw toApiError(response, error)
  return untilSilent(readBlocks(data, ends), silence)
}

async function* untilSilent(
  blocks: AsyncGenerator<ServerSentBlock>,
  silence: AbortController,
): AsyncGenerator<ServerSentBlock> {
  try {
    for (let block = await next(); block !== undefined; block = await next()) yield block
  } finally {
    await blocks.return(undefined)
  }

  async function next(): Promise<ServerSentBlock | undefined> {
    const timer = setTimeout(() => silence.abort(), LONGEST_SILENCE_MS)
    try {
      const { value, done } = await blocks.next()
      return done ? undefined : value
    } catch {
      // The caller comes back with its cursor, whatever ended the connection.
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }
}
