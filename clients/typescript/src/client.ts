import { type FollowOptions, followEvents, type RelayerEvent } from './events/follow.ts'
import type { Resources } from './generated/operations.ts'
import { createHttp, type RelayerClientOptions, type RelayerHttp } from './http.ts'
import { createResources } from './resources.ts'
import { createChanges } from './transactions/changes.ts'
import { type AwaitedState, type Transaction, type WaitOptions, waitFor } from './transactions/wait-for.ts'

/** A client of the service: every operation by its resource, and what takes more than one request. */
export interface RelayerClient extends Resources {
  /** The operations by their paths, for the whole answer: its headers, `metadata.logs`, and failures as values. */
  readonly http: RelayerHttp
  readonly transactions: Resources['transactions'] & {
    /**
     * Waits until a transaction has reached a status, or meets a condition. It needs the scope `transactions:read`, and hears of changes sooner with `events:read`.
     *
     * @throws TransactionEndedError if it ended otherwise, and WaitTimeoutError after `timeoutMs`
     */
    waitFor(
      relayerId: string,
      transactionId: string,
      status: AwaitedState,
      options?: WaitOptions,
    ): Promise<Transaction>
  }
  readonly events: Resources['events'] & {
    /** Follows the event log from `after`, or from now on, until the signal aborts. It needs the scope `events:read`. */
    follow(options?: FollowOptions): AsyncIterable<RelayerEvent>
  }
}

/** Makes a client of the service at `baseUrl`. It holds no connection that one would have to close. */
export function createRelayerClient(options: RelayerClientOptions): RelayerClient {
  const http = createHttp(options)
  const resources = createResources(http)
  const changes = createChanges(http)
  const read = resources.transactions.get
  return {
    ...resources,
    http,
    transactions: {
      ...resources.transactions,
      waitFor: (relayerId, id, status, settings) =>
        waitFor({ changes, read }, { relayerId, id, status, ...settings }),
    },
    events: {
      ...resources.events,
      follow: (settings = {}) => followEvents(http, settings),
    },
  }
}
