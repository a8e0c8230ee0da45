import type { Failure } from '../../networks/endpoint-health.ts'

/** Is told of every HTTP request to an endpoint of one network. Must not throw. */
export interface RpcObserver {
  asked(request: {
    /** Of each call in it. */
    readonly methods: readonly string[]
    readonly seconds: number
    /** Absent when the endpoint answered, whatever it said. */
    readonly failure?: Failure['kind'] | 'batch_refused' | undefined
  }): void
}
