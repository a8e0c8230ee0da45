import type { Middleware } from './state.ts'

/** Is told how requests are answered. Must not throw. */
export interface RequestObserver {
  begun(): void
  answered(answer: {
    /** Of the contract; absent for everything else. */
    readonly operation?: string | undefined
    readonly method: string
    readonly status: number
    readonly seconds: number
  }): void
  /** Nothing more is sent: at once, but for event streams. */
  ended(): void
}

/** Tells the observer of every request. */
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
