import { isTransient } from '../errors/is-transient.ts'
import { parseContractJson } from '../exact-json.ts'
import type { RelayerHttp } from '../http.ts'
import type { Options, Schemas } from '../operation-types.ts'
import { backoffMs } from '../transport/retry.ts'
import { sleep } from '../transport/sleep.ts'
import { openStream } from './open-stream.ts'

/** An event of the log of the service. */
export type RelayerEvent = Schemas['Event']

/** The events to follow: filters, and `after`, the number of the last one that you have processed. */
export type FollowOptions = Pick<Options<'streamEvents'>, 'after' | 'relayer_id' | 'type' | 'signal'>

/** Hears about the connection. */
interface ConnectionListener {
  /** The stream proved that events arrive: from now on, none is missed. */
  readonly onOpen?: () => void
  readonly onLost?: () => void
}

/**
 * Yields the events after a cursor, and then each new one. It reconnects for as long as the service may come back, and continues after the
 * last event, so that none is missing and none comes twice. Without `after` it begins with the next event.
 *
 * @throws RelayerApiError if the service refuses the stream, and the reason of the signal when that aborts
 */
export async function* followEvents(
  http: RelayerHttp,
  { signal, after, ...filter }: FollowOptions,
  { onOpen, onLost }: ConnectionListener = {},
): AsyncGenerator<RelayerEvent> {
  let cursor = after
  for (let failures = 0; ; failures += 1) {
    if (failures > 0) await sleep(backoffMs(failures), { signal })
    const query = { ...filter, ...(cursor !== undefined && { after: cursor }) }
    const blocks = await openStream(http, { query, signal }).catch(orTryAgain)
    for await (const { id, data } of blocks ?? []) {
      failures = 0
      onOpen?.()
      // The first block has an id and no data, and a proxy may repeat what it has sent before.
      if (id === undefined || !isAfter(id, cursor)) continue
      cursor = id
      if (data !== undefined) yield parseContractJson(data) as RelayerEvent
    }
    signal?.throwIfAborted()
    onLost?.()
  }
}

/** @throws the error, unless the service may open the stream later */
function orTryAgain(error: unknown): undefined {
  if (!isTransient(error)) throw error
}

function isAfter(number: string, cursor: string | undefined): boolean {
  return cursor === undefined || BigInt(number) > BigInt(cursor)
}
