import type { Failure } from '../../networks/endpoint-health.ts'

/** The calls whose errors the service reads by their text. */
export type TextContext = 'broadcast' | 'estimate'

/** Receives a report of every HTTP request to an endpoint of one network. Must not throw. */
export interface RpcObserver {
  asked(request: {
    /** The host of the endpoint, with its port and without the rest of the url, which may contain a key. */
    readonly host: string
    /** The method of each call in the request. */
    readonly methods: readonly string[]
    readonly seconds: number
    /** The failure of the endpoint; absent when it answered, whatever the answer was. */
    readonly failure?: Failure['kind'] | 'batch_refused' | 'answer_too_large' | undefined
  }): void
  /** A node has answered such a call with an error whose text the service does not know. */
  unknownText?(context: TextContext): void
}
