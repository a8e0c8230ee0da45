import { followEvents } from '../events/follow.ts'
import type { RelayerHttp } from '../http.ts'

/** Hears of changes of one transaction. */
export interface Watch {
  /** True while the event stream tells of each change. */
  readonly live: boolean
  /** Resolves at the next change. Take it before you read the transaction, and no change is missed. */
  next(): Promise<void>
  close(): void
}

/** Tells of changes of transactions. All waits for transactions of a relayer share one event stream. */
export interface Changes {
  watch(relayerId: string, transactionId: string): Watch
}

/** One event stream, and those who listen. */
interface Feed {
  live: boolean
  readonly listeners: Map<object, (transactionId: string | undefined) => void>
  readonly stop: AbortController
}

/** Makes the watches of a client. A stream is open while someone listens. */
export function createChanges(http: RelayerHttp): Changes {
  const feeds = new Map<string, Feed>()

  function openFeed(relayerId: string): Feed {
    const feed: Feed = { live: false, listeners: new Map(), stop: new AbortController() }
    feeds.set(relayerId, feed)
    void run(http, relayerId, feed)
    return feed
  }

  return {
    watch: (relayerId, transactionId) => {
      const feed = feeds.get(relayerId) ?? openFeed(relayerId)
      const listener = {}
      let change = Promise.withResolvers<void>()
      feed.listeners.set(listener, (id) => {
        if (id === undefined || id === transactionId) change.resolve()
      })
      return {
        get live() {
          return feed.live
        },
        next: () => {
          change = Promise.withResolvers()
          return change.promise
        },
        close: () => {
          feed.listeners.delete(listener)
          if (feed.listeners.size > 0) return
          feeds.delete(relayerId)
          feed.stop.abort()
        },
      }
    },
  }
}

/** Runs until it is stopped. A key that may not read events, for example, has no stream: then its watches never become live. */
async function run(http: RelayerHttp, relayerId: string, feed: Feed): Promise<void> {
  const tell = (id?: string) => {
    for (const listener of feed.listeners.values()) listener(id)
  }
  const options = { relayer_id: relayerId, type: 'transaction_update', signal: feed.stop.signal } as const
  const events = followEvents(http, options, {
    onOpen: () => {
      if (feed.live) return
      feed.live = true
      // A change may have come before the stream began.
      tell()
    },
    onLost: () => {
      feed.live = false
    },
  })
  try {
    for await (const { transaction_id } of events) tell(transaction_id)
  } catch {
    feed.live = false
  }
}
