import type { Middleware } from '../state.ts'

/** Receives the progress of each request. Its methods must not throw. */
export interface RequestObserver {
  begun(): void
  answered(answer: {
    /** The operation of the contract; absent for other paths. */
    readonly operation?: string | undefined
    readonly method: string
    readonly status: number
    readonly seconds: number
  }): void
  /** The connection has sent the whole answer, or has closed; event streams end long after their answer began. */
  ended(): void
}

/** Reports every request to the observer. */
export function observeRequests(observer: RequestObserver): Middleware {
  return async function observeRequests(context, next) {
    const start = performance.now()
    observer.begun()
    context.res.once('close', observer.ended)
    try {
      await next()
    } finally {
      observer.answered({
        operation: context.state.operation?.id,
        method: context.method,
        status: context.status,
        seconds: (performance.now() - start) / 1000,
      })
    }
  }
}
