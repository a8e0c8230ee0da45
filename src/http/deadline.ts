import { AppError } from '../errors.ts'
import type { HttpContext } from './state.ts'

/** The time limit of one request. */
export interface Deadline {
  /** Aborts when the time is up, the caller has disconnected, or the answer was sent. It is made when it is first read. */
  readonly signal: AbortSignal
  /**
   * Waits for the work, or fails with `late()` when the time is up first. The work continues; only the signal tells it to
   * stop.
   */
  race<T>(work: Promise<T>, late: () => AppError): Promise<T>
  /** Ends the time limit. From then on the signal aborts only at the end of the answer. */
  met(): void
}

/** Starts the time limit of a request. It ends with the connection or the answer. */
export function startDeadline(context: HttpContext, ms: number): Deadline {
  const end = createLazyAbort()
  const { promise: expired, reject } = Promise.withResolvers<never>()
  let failure = handlerTooSlow
  const timer = setTimeout(() => {
    // The rejection comes first, so that the caller learns of the time limit and not of the abort that follows from it.
    reject(failure())
    end.abort()
  }, ms)
  context.res.once('close', () => {
    clearTimeout(timer)
    end.abort()
  })
  return {
    get signal() {
      return end.signal()
    },
    race: (work, late) => {
      failure = late
      return Promise.race([work, expired])
    },
    met: () => clearTimeout(timer),
  }
}

/** A controller and its abort cost as much as a tenth of a small request, and few handlers read the signal. */
function createLazyAbort(): { readonly signal: () => AbortSignal; readonly abort: () => void } {
  let controller: AbortController | undefined
  let aborted = false
  return {
    signal: () => {
      controller ??= new AbortController()
      if (aborted) controller.abort()
      return controller.signal
    },
    abort: () => {
      aborted = true
      controller?.abort()
    },
  }
}

/** Makes the failure for a body that does not arrive in time: the caller causes the delay. */
export function bodyTooSlow(): AppError {
  return new AppError('request_too_slow', 'The request did not arrive completely in time.')
}

/** Makes the failure for a handler that does not finish in time: the service causes the delay. */
export function handlerTooSlow(): AppError {
  return new AppError(
    'request_timeout',
    'The request was not finished in time. It may still take effect; look before you repeat it.',
  )
}
